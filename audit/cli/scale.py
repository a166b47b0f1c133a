"""The commands of a run past one machine: plan, extract, part, run and gather."""

from pathlib import Path
from typing import Any

import click

from audit.cli import commands
from audit.cli.options import Size, bar, database, heavy
from audit.text import one_line

# `plan` takes what `load` and `replay` take, but for what is a database's, what is this process's,
# and what would need all files in one reading. `replay` filters what has been gathered.
LEFT_OUT = {
    "load": {
        "sources",
        "db",
        "replace",
        "no_texts",
        "threads",
        "memory",
        "runs",
        "skip_unreadable",
    },
    "replay": {"db", "threads", "memory", "add_budgets", "archive", "competition", "problems"},
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
def plan(sources: tuple[str, ...], out: str, parts: int, **options: Any) -> None:
    """Plan a run past one machine: check all options, list the files, write RUN/manifest.json.

    Example: budget-audit plan traces/ --out run --parts 64 --orders 20
    """
    from audit.scale import plan as module

    reading = {param.name: options[str(param.name)] for param in planned("load")}
    reading["mapping"] = dict(reading["mapping"])
    reading["finished"] = [part.strip() for part in reading["finished"].split(",") if part.strip()]
    replaying = {param.name: options[str(param.name)] for param in planned("replay")}
    manifest = module.plan(
        sources,
        Path(out),
        parts,
        reading={str(name): value for name, value in reading.items()},
        replaying={str(name): value for name, value in replaying.items()},
    )
    size = sum(file.bytes for file in manifest.files)
    click.echo(f"{len(manifest.files):,} file(s), {size:,} bytes, {parts:,} part(s) in {out}")


plan.params += [*planned("load"), *planned("replay")]


@commands.main.command()
@click.argument("folder", metavar="RUN")
@click.argument("number", type=int, required=False)
@limited
def extract(folder: str, number: int | None, **limits: Any) -> None:
    """Extract one source file of a run, or every one that is missing.

    Example: budget-audit extract run 0
    """
    from audit.scale import extract as module
    from audit.scale.folders import Limits
    from audit.scale.keys import missing_files, number_keys
    from audit.scale.plan import read_manifest

    run, wanted = Path(folder), [number]
    if number is None:
        wanted = [*missing_files(run, read_manifest(run))]
    rows = sum(module.extract(run, one, Limits(**limits)) for one in wanted if one is not None)
    if number is None:
        number_keys(run, Limits(**limits))
    click.echo(f"{rows:,} attempts of {len(wanted):,} file(s) in {folder}")


@commands.main.command()
@click.argument("folder", metavar="RUN")
@click.argument("number", type=int)
@limited
def part(folder: str, number: int, **limits: Any) -> None:
    """Make one part of a run, counted from 0; a part that is there stays as it is.

    Example: budget-audit part run 3
    """
    from audit.scale import part as module
    from audit.scale.folders import Limits

    banks = module.part(Path(folder), number, Limits(**limits))
    click.echo(f"part {number}: {banks:,} banks" if banks else f"part {number}: nothing to do")


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
def execute(
    folder: str,
    on: str,
    workers: int,
    master: str | None,
    remote: str | None,
    address: str | None,
    **limits: Any,
) -> None:
    """Do what is missing of a run, and nothing else; it can be stopped and started again.

    Example: budget-audit run run --on local --workers 4 --memory 4GB
    """
    from audit.scale import run as module
    from audit.scale.folders import Limits

    where = module.Where(workers, master, remote, address)
    done = module.run(Path(folder), on, Limits(**limits), where, bar("run"))
    click.echo(f"{done.files:,} file(s) extracted, {done.parts:,} part(s) made in {folder}")


@commands.main.command()
@click.argument("folder", metavar="RUN")
@database
@click.option("--link", is_flag=True, help="Leave the large relations in the run's files.")
@heavy
def gather(folder: str, db: str, link: bool, threads: int | None, memory: str | None) -> None:
    """Check every part of a run and make one new database of them.

    Example: budget-audit gather run --db audit.duckdb
    """
    from audit.scale import gather as module

    found = module.gather(Path(folder), Path(db), link=link, threads=threads, memory=memory)
    click.echo(f"{found.replays:,} replays of {found.banks:,} banks in {db}")
    for note in found.notes:
        click.echo(f"note: {one_line(note)}", err=True)
    click.echo("a run keeps no texts: what needs them says so", err=True)
