"""Commands that look into databases: show, diff, verify and query."""

import sys
from typing import Any

import click

import audit
from audit.cli import completion
from audit.cli.commands import main
from audit.cli.exits import give_up
from audit.cli.options import add_format_options, find_width, list_names, show_notes
from audit.cli.options import show as show_result
from audit.errors import AuditError
from audit.options import Limits, read_options
from audit.text import steerless

# The default of --limit on a terminal.
MOST_ROWS = 1000


@main.command()
@add_format_options()
def show(fmt: str, wide: bool = False, **options: Any) -> None:
    """Show the attempts of one problem, or the text of one of them.

    Example: budget-audit show --competition AIME24 --question 3 --seed 1
    """
    result = audit.show(**options)
    if isinstance(result, str):
        text = steerless(str(result))
        # A pager keeps a long text from running off the screen.
        if sys.stdout.isatty():
            click.echo_via_pager(text)
        else:
            click.echo(text)
        return
    show_result(result, fmt, wide)
    show_notes("--seed N shows what was written")


@main.command()
@click.option("--all", "everything", is_flag=True, help="Every cell that differs.")
@add_format_options()
def diff(fmt: str, everything: bool = False, wide: bool = False, **options: Any) -> None:
    """Tell what differs between two databases. Exit 1 when anything does.

    Example: budget-audit diff before.duckdb after.duckdb --archive my-model
    """
    result = audit.diff(**options)
    if fmt == "table" and not ("table" in options or everything):
        click.echo(result.caption)
    else:
        result.caption = result.caption.partition(";")[0]
        show_result(result, fmt, wide)
    if len(result):
        raise click.exceptions.Exit(1)


@main.command()
@add_format_options()
def verify(fmt: str, wide: bool = False, **options: Any) -> None:
    """Compare a live run with the replay of an unrestricted one. Exit 1 where they differ.

    LIVE and FULL are logs, folders or databases. Equal attempts must give equal results, and every
    problem must be there; for another sampling the paired difference is printed with its interval.

    Example: budget-audit verify live.jsonl full.jsonl
    """
    result = audit.verify(**options)
    show_result(result, fmt, wide)
    if {"different", "missing"} & set(result.to_pydict()["result"]):
        raise click.exceptions.Exit(1)


@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("name_or_sql", required=False, shell_complete=completion.queries)
@add_format_options()
@click.option("--show", "is_shown", is_flag=True, help="Print the SQL instead of running it.")
@click.option(
    "--limit",
    type=click.IntRange(0),
    metavar="N",
    help=f"At most N rows, 0 for all (default: {MOST_ROWS:,} on a terminal, all in a pipe).",
)
@click.option(
    "--timeout", type=float, default=60, show_default=True, help="Seconds before it is stopped."
)
def query(
    fmt: str,
    name_or_sql: str | None = None,
    params: dict[str, str] | None = None,
    wide: bool = False,
    is_shown: bool = False,
    limit: int | None = None,
    **options: Any,
) -> None:
    """Run a named query, a .sql file or SQL text, read only. - is standard input.

    Without one, list the named queries with their parameters.

    Example: budget-audit query "select rule, avg(cost) from results where budget=4000 group by 1"
    """
    from audit import api

    if name_or_sql is None:
        for row in (listed := audit.queries().to_pylist()):
            row["question"] += f"  ({row['parameters']})" if row["parameters"] else ""
        list_names((row["query"], row["question"]) for row in listed)
        return
    if name_or_sql == "-":
        name_or_sql = _read_standard_input()
    if is_shown:
        click.echo(api.query_sql(name_or_sql), nl=False)
        return
    if limit is None and sys.stdout.isatty():
        limit = MOST_ROWS
    result, text = api.run_query(
        options["db"],
        name_or_sql,
        params or {},
        read_options(Limits, {name: options.get(name) for name in ("threads", "memory")}),
        timeout=options["timeout"],
        fmt=fmt,
        width=find_width(wide),
        limit=limit,
        give_up=give_up,
    )
    click.echo(text, nl=False)
    show_notes(*([f"{result.caption}; --limit 0 shows all"] if result.caption else []))
    show_notes(*result.notes)


def _read_standard_input() -> str:
    """Read SQL from standard input."""
    try:
        if (text := sys.stdin.buffer.read().decode("utf-8")).strip():
            return text
    except UnicodeDecodeError:
        raise AuditError("query: standard input is not UTF-8 text") from None
    raise AuditError("query: standard input holds no SQL")
