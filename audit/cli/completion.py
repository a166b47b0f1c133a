"""What a shell completes: names that are there, read from the database where they are in one."""

import os
from collections.abc import Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

# Where a database is looked for when --db does not name one.
DATABASE_VARIABLE = "BUDGET_AUDIT_DB"
DEFAULT_DATABASE = "audit.duckdb"

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _completer(names: Callable[[click.Context], list[tuple[str, str]]]) -> Completer:
    """A completer of names with their meanings; what cannot be read completes nothing."""

    def complete(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
        try:
            found = names(ctx)
        except Exception:
            return []
        return [CompletionItem(name, help=what) for name, what in found if name.startswith(begun)]

    return complete


def _read(ctx: click.Context, sql: str) -> list[tuple[Any, ...]]:
    from audit import api

    path = ctx.params.get("db") or os.environ.get(DATABASE_VARIABLE) or DEFAULT_DATABASE
    with api.connect(path, read_only=True) as con:
        return con.execute(sql).fetchall()


def _tables(ctx: click.Context) -> list[tuple[str, str]]:
    from audit import api

    return [(row["table"], row["a row"]) for row in api.tables()]


def _queries(ctx: click.Context) -> list[tuple[str, str]]:
    from audit import api

    return [(row["query"], row["question"]) for row in api.queries()]


def _archives(ctx: click.Context) -> list[tuple[str, str]]:
    sql = "select archive, count(*) from attempts group by archive order by archive"
    return [(archive, f"{count:,} attempts") for archive, count in _read(ctx, sql)]


def _competitions(ctx: click.Context) -> list[tuple[str, str]]:
    return [
        (name, "")
        for (name,) in _read(ctx, "select distinct competition from attempts order by competition")
    ]


def _budgets(ctx: click.Context) -> list[tuple[str, str]]:
    found = _read(ctx, "select budget from budgets order by budget")
    return [(str(budget), "") for (budget,) in found]


def _relations(ctx: click.Context) -> list[tuple[str, str]]:
    from audit import api

    path = ctx.params.get("db") or os.environ.get(DATABASE_VARIABLE) or DEFAULT_DATABASE
    rows = api.schema(path).to_pylist()
    return [(row["relation"], row["one row is"]) for row in rows if row["kind"] != "internal"]


tables = _completer(_tables)
queries = _completer(_queries)
archives = _completer(_archives)
competitions = _completer(_competitions)
budgets = _completer(_budgets)
relations = _completer(_relations)
