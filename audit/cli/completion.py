"""What a shell completes: names that are there, read from the database where they are in one."""

import os
import re
import shlex
from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

import audit
from audit.text import visible

# Where a database is looked for when --db does not name one.
DATABASE_VARIABLE = "BUDGET_AUDIT_DB"
DEFAULT_DATABASE = "audit.duckdb"
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _completer(names: Callable[[click.Context], list[tuple[str, str]]]) -> Completer:
    """Return a completer of names with their meanings; what cannot be read completes nothing."""

    def complete(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
        if is_bash() and re.search("['\"]", os.environ.get("COMP_WORDS", "")):
            # What bash inserts into an open quote it would not quote.
            return []
        try:
            candidates = names(ctx)
        except Exception:
            return []
        return [
            # Other shells quote by themselves (threat model, b).
            CompletionItem(shlex.quote(name) if is_bash() else name, help=visible(what))
            for name, what in candidates
            if name.startswith(begun) and name.isprintable() and "\\" not in name
        ]

    return complete


def is_bash() -> bool:
    """Return whether bash asks."""
    return os.environ.get("_BUDGET_AUDIT_COMPLETE", "").startswith("bash")


def _database(ctx: click.Context) -> str:
    return ctx.params.get("db") or os.environ.get(DATABASE_VARIABLE) or DEFAULT_DATABASE


def _selecting(sql: str) -> Completer:
    """Return a completer of the names and meanings that a select finds in the database."""

    def read(ctx: click.Context) -> list[tuple[str, str]]:
        with audit.connect(_database(ctx), read_only=True) as con:
            return con.execute(sql).fetchall()

    return _completer(read)


tables = _completer(lambda ctx: [(row["table"], row["a row"]) for row in audit.tables()])
queries = _completer(lambda ctx: [(row["query"], row["question"]) for row in audit.queries()])
archives = _selecting(
    "select archive, format('{:,} attempts', count(*)) from attempts group by archive order by all"
)
competitions = _selecting("select distinct competition, '' from attempts order by competition")
# Budgets of the last replay.
budgets = _selecting("select budget::varchar, '' from budgets order by budget")
# By the names of parameters that mean the same wherever they are.
BY_NAME = {"archive": archives, "competition": competitions, "budget": budgets, "budgets": budgets}


@_completer
def relations(ctx: click.Context) -> list[tuple[str, str]]:
    """List the public relations and the tables."""
    rows = audit.schema(_database(ctx))
    return [(row["relation"], row["one row is"]) for row in rows if row["kind"] != "internal"]
