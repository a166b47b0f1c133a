"""Shell completion of names, such as archives that are in the database."""

import os
import re
import shlex
from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

import audit
from audit.text import visible

# The database to use without --db.
DATABASE_VARIABLE = "BUDGET_AUDIT_DB"
DEFAULT_DATABASE = "audit.duckdb"
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _make_completer(names: Callable[[click.Context], list[tuple[str, str]]]) -> Completer:
    """Return a completer for these names and their descriptions; on an error it offers none."""

    def complete(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
        if is_bash() and re.search("['\"]", os.environ.get("COMP_WORDS", "")):
            # Inside an open quote, bash would insert a name unquoted.
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
    """Return whether the shell that asks for completions is bash."""
    return os.environ.get("_BUDGET_AUDIT_COMPLETE", "").startswith("bash")


def _find_database(ctx: click.Context) -> str:
    """Return the path of the database that the command will open."""
    return ctx.params.get("db") or os.environ.get(DATABASE_VARIABLE) or DEFAULT_DATABASE


def _select_names(sql: str) -> Completer:
    """Return a completer for the names and descriptions that a select reads from the database."""

    def read(ctx: click.Context) -> list[tuple[str, str]]:
        with audit.connect(_find_database(ctx), read_only=True) as con:
            return con.execute(sql).fetchall()

    return _make_completer(read)


tables = _make_completer(lambda ctx: [(row["table"], row["a row"]) for row in audit.tables()])
queries = _make_completer(lambda ctx: [(row["query"], row["question"]) for row in audit.queries()])
archives = _select_names(
    "select archive, format('{:,} attempts', count(*)) from attempts group by archive order by all"
)
competitions = _select_names("select distinct competition, '' from attempts order by competition")
# Budgets of the last replay.
budgets = _select_names("select budget::varchar, '' from budgets order by budget")
# Completers by the name of a parameter, the same in every command.
BY_NAME = {"archive": archives, "competition": competitions, "budget": budgets, "budgets": budgets}


@_make_completer
def relations(ctx: click.Context) -> list[tuple[str, str]]:
    """List the public relations and the tables."""
    rows = audit.schema(_find_database(ctx))
    return [(row["relation"], row["one row is"]) for row in rows if row["kind"] != "internal"]
