"""What a shell completes: names that are there, read from the database where they are in one."""

import os
import re
from collections.abc import Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

from audit.text import visible

# Where a database is looked for when --db does not name one.
DATABASE_VARIABLE = "BUDGET_AUDIT_DB"
DEFAULT_DATABASE = "audit.duckdb"
# A name comes from a database that may be anyone's, and a shell runs what is completed: a name with
# any other character is left out. What matches the group needs quotes.
SAFE = re.compile(r"[^\W_][\w./@+-]*|([^\W_][\w./@+:= -]*)")

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _completer(names: Callable[[click.Context], list[tuple[str, str]]]) -> Completer:
    """A completer of names with their meanings; what cannot be read completes nothing."""

    def complete(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
        try:
            found = names(ctx)
        except Exception:
            return []
        return [
            CompletionItem(_quoted(name), help=visible(what))
            for name, what in found
            if name.startswith(begun) and SAFE.fullmatch(name)
        ]

    return complete


def _quoted(name: str) -> str:
    """The name as bash needs it, which quotes nothing by itself; other shells do."""
    is_bash = os.environ.get("_BUDGET_AUDIT_COMPLETE", "").startswith("bash")
    line = os.environ.get("COMP_WORDS", "")
    is_inside_quotes = line.count("'") % 2 or line.count('"') % 2
    is_plain = SAFE.fullmatch(name)[1] is None  # type: ignore[index]
    return f"'{name}'" if is_bash and not is_plain and not is_inside_quotes else name


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
