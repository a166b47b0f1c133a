"""The command line: a thin skin over the functions of `audit`."""

from audit.cli import looking, pages
from audit.cli.commands import main

__all__ = ["looking", "main", "pages"]
