"""The commands of a run past one machine: plan, extract, part, run and gather."""

from typing import Any

import click

import audit
from audit.cli.commands import main
from audit.cli.options import bar, database, given_options, heavy, print_result, takes_options
from audit.options import Planned, Reading, TaskLimits

ENGINES = ("local", "spark", "ray")


limited = takes_options(TaskLimits)


@main.command()
@click.argument("sources", nargs=-1, required=True)
@click.option("--out", required=True, metavar="RUN", help="The run's folder, which workers share.")
@click.option("--parts", type=int, required=True, metavar="N", help="Into how many parts it goes.")
@takes_options(Reading, Planned)
def plan(sources: tuple[str, ...], out: str, parts: int, **options: Any) -> None:
    """Plan a run past one machine. RUN/manifest.json lists its options and files.

    Example: budget-audit plan traces/ --out run --parts 8 --orders 20
    """
    print_result(audit.plan(sources, out, parts, **given_options(options)))


@main.command()
@click.argument("folder", metavar="RUN")
@click.argument("number", type=int, required=False)
@limited
def extract(folder: str, number: int | None, **limits: Any) -> None:
    """Do one extract of a run, or every one that is missing.

    Example: budget-audit extract run 0
    """
    print_result(audit.extract(folder, number, **given_options(limits)))


@main.command()
@click.argument("folder", metavar="RUN")
@click.argument("number", type=int)
@limited
def part(folder: str, number: int, **limits: Any) -> None:
    """Make one part of a run, counted from 0. A part that is there stays as it is.

    Example: budget-audit part run 3
    """
    print_result(audit.part(folder, number, **given_options(limits)))


@main.command("run")
@click.argument("folder", metavar="RUN")
@click.option(
    "--on", type=click.Choice(ENGINES), default="local", show_default=True, help="The engine."
)
@click.option(
    "--workers",
    type=click.IntRange(1, 1024),
    default=2,
    show_default=True,
    help="Processes of this machine (local, and ray without an address).",
)
@click.option("--master", metavar="URL", help="Spark's master, such as spark://host:7077.")
@click.option("--remote", metavar="URL", help="A Spark Connect server, such as sc://host:15002.")
@click.option("--address", metavar="ADDRESS", help="A Ray cluster, such as auto.")
@limited
def execute(folder: str, **options: Any) -> None:
    """Run the remaining tasks of a run. It can be stopped and started again.

    Example: budget-audit run run --on local --workers 4 --memory 4GB
    """
    print_result(audit.run(folder, progress=bar("run"), **given_options(options)))


@main.command()
@click.argument("folder", metavar="RUN")
@database
@heavy
def gather(folder: str, db: str, **options: Any) -> None:
    """Check every part of a run and make one new database of them.

    Example: budget-audit gather run --db audit.duckdb
    """
    print_result(audit.gather(folder, db, **options))
