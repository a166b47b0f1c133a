"""The commands: each calls the function of its name and prints what it returns."""

import os
from typing import Any

import click

import audit
from audit import __version__
from audit.cli import completion
from audit.cli.exits import Cli
from audit.cli.options import (
    announce,
    formats,
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
def answers(**options: Any) -> None:
    """Read the answers again as another kind, from what was loaded.

    Example: budget-audit answers --db audit.duckdb --answer archive
    """
    print_result(audit.answers(**options))


@main.command()
def leave(**options: Any) -> None:
    """Derive archives whose attempts leave early, at a checkpoint.

    Example: budget-audit leave --exit agreement:5
    """
    show(audit.leave(**options), "table")


@main.command()
def describe(**options: Any) -> None:
    """Tell whether sources load, and with what command. Nothing is loaded yet.

    Example: budget-audit describe logs/ --archive my-model
    """
    click.echo(audit.describe(**options), nl=False)


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


@main.command(complete={"name": completion.tables})
@formats()
def table(fmt: str, wide: bool = False, **options: Any) -> None:
    """Print one table.

    Example: budget-audit table main --format csv
    """
    show(audit.table(**options), fmt, wide)


@main.command(complete={"names": completion.relations})
def export(**options: Any) -> None:
    """Write tables and relations to files; without a name, all tables.

    Example: budget-audit export main replays selections --out csv
    """
    print_files(audit.export(**options))


@main.command()
def card(**options: Any) -> None:
    """Write what a budget figure must state, as JSON.

    Example: budget-audit card --out card.json
    """
    print_files(audit.card(**options))


@main.command()
@formats("junit")
def check(fmt: str, wide: bool = False, **options: Any) -> None:
    """Verify the invariants and controls; exit 1 when one fails.

    Example: budget-audit check --expect 'my-model, 8k, strict: accuracy >= 60'
    """
    result = audit.check(**options)
    show(result, fmt, wide)
    if any(row["violations"] for row in result):
        raise click.exceptions.Exit(1)


@main.command()
@formats()
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


@main.command()
def sql(name: str) -> None:
    """Print the rendered SQL of a stage, rule, selector or table.

    Example: budget-audit sql main
    """
    click.echo(audit.sql(name))
