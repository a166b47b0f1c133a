"""The commands: each calls the function of its name and prints what it returns."""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import click

import audit
from audit import __version__
from audit.cli import completion
from audit.cli.exits import Cli
from audit.cli.options import (
    add_format_options,
    announce,
    list_names,
    no_color,
    print_files,
    print_result,
    show,
    show_notes,
)
from audit.options import AUTO
from audit.text import distinct, visible


@click.group(
    cls=Cli,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "color": False if os.environ.get("NO_COLOR") else None,
    },
)
@click.version_option(__version__, prog_name="budget-audit")
@no_color
def main() -> None:
    """What did this budget really buy? Replay recorded attempts under a cumulative budget."""


@main.command()
def simulate(**options: Any) -> None:
    """Write an archive of the study's shape, labelled as simulated.

    Example: budget-audit simulate --out archives --problems 5 --attempts 16
    """
    for path in audit.simulate(**options):
        click.echo(f"{path}  (simulated)")


@main.command()
def load(**options: Any) -> None:
    """Load attempts from files, folders or globs, all or nothing.

    Example: budget-audit load traces/ more/*.jsonl.gz --db audit.duckdb
    """
    loaded = audit.load(**options)
    for row in loaded:
        counted = f"{row['attempts']:,} attempts at {row['problems']:,} problems"
        click.echo(f"{distinct(visible(row['archive']))}: {counted}")
    print_result(loaded)


@main.command()
def replay(progress: Any = None, **options: Any) -> None:
    """Replay every order under every cap, budget and rule.

    An option that is not given keeps its value from the last replay of the database, or else has
    its default.

    Example: budget-audit replay --budgets 2k,4k,8k --caps 16 --orders 50
    """
    if options.get("orders") == "auto":
        progress = announce(AUTO, progress)
    print_result(audit.replay(progress=progress, **options))


@main.command()
@click.option(
    "--db", expose_value=False, metavar="FILE", help="Every database has the same tables."
)
def tables() -> None:
    """List the tables and what a row of each means.

    Example: budget-audit tables
    """
    list_names((row["table"], row["a row"]) for row in audit.tables())


@main.command()
@add_format_options("junit")
def check(fmt: str, wide: bool = False, **options: Any) -> None:
    """Verify the invariants and controls; exit 1 when one fails.

    Example: budget-audit check --expect 'my-model, 8k, strict: accuracy >= 60'
    """
    result = audit.check(**options)
    show(result, fmt, wide)
    if any(row["violations"] for row in result):
        raise click.exceptions.Exit(1)


@main.command()
@add_format_options()
def compare(fmt: str, wide: bool = False, **options: Any) -> None:
    """Put every published value beside the computed one. Exit 1 when the study's data differ.

    Example: budget-audit compare --format csv
    """
    comparison = audit.compare(**options)
    if fmt in ("csv", "json"):
        show(comparison, fmt)
    else:
        if comparison.compact:
            show(comparison.compact, fmt, wide)
            click.echo()
        show(comparison.summary, fmt, wide)
        show_notes(*comparison.notes)
    if comparison.status:
        raise click.exceptions.Exit(comparison.status)


@main.command()
def timeline(**options: Any) -> None:
    """Draw one replay on an axis of its costs, under every rule.

    Example: budget-audit timeline --competition AIME24 --question 3 --repeat 5 --budget 4k
    """
    drawn = audit.timeline(**options)
    click.echo(str(drawn))
    show_notes(*drawn.notes)


@main.command()
def tokenize(**options: Any) -> None:
    """Count the tokens that prefix_boxes needs. What is counted already is not counted again.

    Example: budget-audit tokenize --db audit.duckdb
    """
    try:
        print_result(audit.tokenize(**options))
    except KeyboardInterrupt:
        click.echo("error: interrupted; run it again to go on from what is counted", err=True)
        raise click.exceptions.Exit(130) from None


@main.command()
@click.argument("name", type=click.Choice(("scorio-trace",)), expose_value=False)
def fetch(**options: Any) -> None:
    """Fetch the study's archive, resumed and checked (extra hub).

    Example: budget-audit fetch scorio-trace --out scorio-trace
    """
    for row in audit.fetch(**options):
        was_here = "" if row["is_new"] else "  (was here)"
        click.echo(f"{row['file']}  {row['bytes']:,} bytes{was_here}")


def register(
    name: str,
    show: Callable[..., None],
    text: str,
    example: str,
    *,
    is_table: bool = False,
    **more: Any,
) -> None:
    """Add a command that calls the function of its name and prints the result by `show`."""

    def command(**options: Any) -> None:
        printed = {key: options.pop(key) for key in ("fmt", "wide") if key in options}
        show(getattr(audit, name)(**options), **printed)

    help = f"{text}\n\nExample: budget-audit {name} {example}"
    made = main.command(name, help=help, **more)(command)
    if is_table:
        add_format_options()(made)


register(
    "answers",
    print_result,
    "Read the answers again as another kind, from what was loaded.",
    "--db audit.duckdb --answer archive",
)
register(
    "leave",
    partial(show, fmt="table"),
    "Derive archives whose attempts leave early, at a checkpoint.",
    "--exit agreement:5",
)
register(
    "describe",
    partial(click.echo, nl=False),
    "Tell whether sources load, and with what command. Nothing is loaded yet.",
    "logs/ --archive my-model",
)
register(
    "table",
    show,
    "Print one table.",
    "main --format csv",
    complete={"name": completion.tables},
    is_table=True,
)
register(
    "schema",
    show,
    "List the relations and what a row is, or the columns of one.",
    "replays",
    complete={"name": completion.relations},
    is_table=True,
)
register("sql", click.echo, "Print the rendered SQL of a stage, rule, selector or table.", "main")
register(
    "export",
    print_files,
    "Write tables and relations to files; without a name, all tables.",
    "main replays selections --out csv",
    complete={"names": completion.relations},
)
register("card", print_files, "Write what a budget figure must state, as JSON.", "--out card.json")
register(
    "plan",
    print_result,
    "Plan a run past one machine. Its manifest.json lists its options and files.",
    "traces/ --out run --parts 8 --orders 20",
)
register("extract", print_result, "Do one extract of a run, or every one that is missing.", "run 0")
register(
    "part",
    print_result,
    "Make one part of a run, counted from 0. A part that is there stays as it is.",
    "run 3",
)
register(
    "run",
    print_result,
    "Run the remaining tasks of a run. It can be stopped and started again.",
    "run --on local --workers 4 --memory 4GB",
)
register(
    "gather",
    print_result,
    "Check every part of a run and make one new database of them.",
    "run --db audit.duckdb",
)
