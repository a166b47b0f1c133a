"""The commands of a run past one machine: plan, extract, part, run and gather."""

from typing import Any

import click

from audit.cli import commands
from audit.cli.options import Size, bar, database, heavy, tell

# `plan` takes what `load` and `replay` take, but for what is a database's and what is this
# process's. Budgets are added to those of a replay that has been; the filters of `replay` have
# names here that those of `load` leave free.
LEFT_OUT = {
    "load": {"sources", "db", "replace", "no_texts", "threads", "memory"},
    "replay": {"db", "threads", "memory", "add_budgets", "archive", "competition"},
}
ENGINES = ("local", "spark", "ray")


def planned(name: str) -> list[click.Parameter]:
    """The options of another command that say what is read or replayed."""
    params = commands.main.commands[name].params
    return [param for param in params if param.name not in LEFT_OUT[name]]


def limited(command: Any) -> Any:
    """What one task may use."""
    for option in (
        click.option("--scratch", metavar="DIR", help="Where a task may spill to; local disk."),
        click.option(
            "--memory", type=Size(), default="2GB", show_default=True, help="Most memory of a task."
        ),
        click.option(
            "--threads",
            type=click.IntRange(1, 1024),
            default=1,
            show_default=True,
            metavar="N",
            help="Threads of a task.",
        ),
    ):
        command = option(command)
    return command


@commands.main.command()
@click.argument("sources", nargs=-1, required=True)
@click.option("--out", required=True, metavar="RUN", help="The run's folder, which workers share.")
@click.option("--parts", type=int, required=True, metavar="N", help="Into how many parts it goes.")
@click.option(
    "--only-archive",
    multiple=True,
    metavar="NAME",
    help="Replay only this archive; a pattern such as '*_high' too, and several times.",
)
@click.option(
    "--only-competition",
    multiple=True,
    metavar="NAME",
    help="Replay only this competition; several times for more.",
)
def plan(
    sources: tuple[str, ...],
    out: str,
    parts: int,
    mapping: tuple[tuple[str, str], ...],
    **options: Any,
) -> None:
    """Plan a run past one machine: check all options, list the files, write RUN/manifest.json.

    Example: budget-audit plan traces/ --out run --parts 64 --orders 20
    """
    from audit import api

    planned = api.plan(sources, out, parts, mapping=dict(mapping), **options)
    click.echo(planned.caption)
    tell(*planned.notes)


plan.params += [*planned("load"), *planned("replay")]


@commands.main.command()
@click.argument("folder", metavar="RUN")
@click.argument("number", type=int, required=False)
@limited
def extract(folder: str, number: int | None, **limits: Any) -> None:
    """Extract one source file of a run, or every one that is missing.

    Example: budget-audit extract run 0
    """
    from audit import api

    click.echo(api.extract(folder, number, **limits).caption)


@commands.main.command()
@click.argument("folder", metavar="RUN")
@click.argument("number", type=int)
@limited
def part(folder: str, number: int, **limits: Any) -> None:
    """Make one part of a run, counted from 0; a part that is there stays as it is.

    Example: budget-audit part run 3
    """
    from audit import api

    click.echo(api.part(folder, number, **limits).caption)


@commands.main.command("run")
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
    """Do what is missing of a run, and nothing else; it can be stopped and started again.

    Example: budget-audit run run --on local --workers 4 --memory 4GB
    """
    from audit import api

    click.echo(api.run(folder, progress=bar("run"), **options).caption)


@commands.main.command()
@click.argument("folder", metavar="RUN")
@database
@click.option("--link", is_flag=True, help="Leave the large relations in the run's files.")
@heavy
def gather(folder: str, db: str, link: bool, threads: int | None, memory: str | None) -> None:
    """Check every part of a run and make one new database of them.

    Example: budget-audit gather run --db audit.duckdb
    """
    from audit import api

    gathered = api.gather(folder, db, link=link, threads=threads, memory=memory)
    click.echo(gathered.caption)
    tell(*gathered.notes)
