"""The commands of a run past one machine: plan, extract, part, run and gather."""

from typing import Any

import audit
from audit.cli.commands import main
from audit.cli.options import print_result


@main.command()
def plan(**options: Any) -> None:
    """Plan a run past one machine. Its manifest.json lists its options and files.

    Example: budget-audit plan traces/ --out run --parts 8 --orders 20
    """
    print_result(audit.plan(**options))


@main.command()
def extract(**options: Any) -> None:
    """Do one extract of a run, or every one that is missing.

    Example: budget-audit extract run 0
    """
    print_result(audit.extract(**options))


@main.command()
def part(**options: Any) -> None:
    """Make one part of a run, counted from 0. A part that is there stays as it is.

    Example: budget-audit part run 3
    """
    print_result(audit.part(**options))


@main.command()
def run(**options: Any) -> None:
    """Run the remaining tasks of a run. It can be stopped and started again.

    Example: budget-audit run run --on local --workers 4 --memory 4GB
    """
    print_result(audit.run(**options))


@main.command()
def gather(**options: Any) -> None:
    """Check every part of a run and make one new database of them.

    Example: budget-audit gather run --db audit.duckdb
    """
    print_result(audit.gather(**options))
