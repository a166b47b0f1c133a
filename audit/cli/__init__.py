"""The command line: each command calls a function of `audit`."""

from audit.cli import looking, pages
from audit.cli.commands import main

__all__ = ["looking", "main", "pages"]
