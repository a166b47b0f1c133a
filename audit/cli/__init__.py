"""The command line: a thin skin over the functions of `audit`."""

from audit.cli import scale
from audit.cli.commands import main

__all__ = ["main", "scale"]
