"""Look up what public relations and columns mean, for the catalogue and for `schema`."""

import csv
import functools
from collections.abc import Collection
from typing import NamedTuple

import duckdb

from audit.database.schema import relations
from audit.engine.sql_files import (
    describe_table,
    find_folder,
    list_files,
    list_tables,
    read_header_line,
)
from audit.text import literal, quoted

# Relations that users may rely on; all others are internal.
PUBLIC_RELATIONS = (
    "attempts",
    "texts",
    "grades",
    "steps",
    "scores",
    "checkpoints",
    "checkpoint_grades",
    "sources",
    "problems",
    "problem_names",
    "token_counts",
    "settings",
    "budgets",
    "caps",
    "unit",
    "prices",
    "orders",
    "prefixes",
    "replays",
    "selections",
    "pairs",
    "results",
    "answer_changes",
    "cost_changes",
    "tallies",
    "bootstrap_counts",
    "problem_draws",
    "prefix_events",
    "policy_stops",
    "policy_replays",
    "policy_selections",
    "terminal_replays",
    "terminal_selections",
)
# Loaded relations whose comments also hold for equal columns of other relations.
WRITTEN_FIRST = ("attempts", "grades")
BOUNDS = {"low": "lower", "high": "upper"}


def comment_relations(con: duckdb.DuckDBPyConnection, without: Collection[str] = ()) -> None:
    """Comment on existing relations and their columns in the catalogue, except some."""
    kinds = {name: kind for name, kind in relations(con).items() if name not in without}
    rows = con.execute(
        "select lower(table_name), column_name, comment from duckdb_columns() "
        "where database_name = current_database() and schema_name = 'main' "
        "order by table_name, column_index"
    ).fetchall()
    # What a load has written of attempts and labels holds for what is made of them.
    written = {own: comment for name, own, comment in rows if name in WRITTEN_FIRST}
    # The stages have none, so that a comment tells what users may rely on.
    statements = [
        f"comment on {kinds[name]} {name} is {literal(describe_table(name))}"
        for name in list_tables()
        if name in kinds
    ]
    for name in sorted(set(kinds) & set(PUBLIC_RELATIONS)):
        if about := describe_relation(name):
            statements.append(f"comment on {kinds[name]} {name} is {literal(about)}")
        for own in (own for relation, own, _ in rows if relation == name):
            means = find_column_meaning(name, own).comment or written.get(own)
            if name in WRITTEN_FIRST or not means:
                means = describe_column(name, own)
            if means:
                where = f"{name}.{quoted(own)}"
                statements.append(f"comment on column {where} is {literal(means)}")
    con.execute(";\n".join(statements))


@functools.cache
def describe_relation(name: str) -> str:
    """Return what a row of a relation means, from the header of its file or columns.csv."""
    if name in list_files():
        return read_header_line(name, name)
    return _read_columns().get((name, ""), ColumnMeaning()).comment


class ColumnMeaning(NamedTuple):
    """A row of `sql/columns.csv`: meaning, unit and decimals of a column, and its print rank.

    The unit `cost` is the replay's own. Columns shown first have the smallest `shown_first`.
    """

    comment: str = ""
    unit: str = ""
    decimals: str = ""
    shown_first: str = ""


@functools.cache
def find_column_meaning(relation: str, name: str) -> ColumnMeaning:
    """Look up a column in columns.csv; rows without a relation fill what its own row lacks.

    x_low and x_high inherit from x, and so do strict_x and advisory_x.
    """
    rows = [_read_columns().get((own, name), ColumnMeaning()) for own in (relation, "")]
    estimate, _, end = name.rpartition("_")
    rule, _, what = name.partition("_")
    if end in BOUNDS and estimate and not any(map(any, rows)):
        about = f"{BOUNDS[end]} end of the 95 % interval of {estimate}"
        rows = [ColumnMeaning(about), find_column_meaning(relation, estimate)]
    elif what and rule in ("strict", "advisory"):
        about = f"{what.replace('_', ' ')} under {rule}"
        rows += [ColumnMeaning(about), find_column_meaning(relation, what)._replace(shown_first="")]
    fields = zip(*rows, strict=True)
    return ColumnMeaning(*(next((value for value in values if value), "") for values in fields))


def describe_column(relation: str, name: str) -> str:
    """Return what a column means; for recorded attempts, from the canonical columns."""
    listed = find_column_meaning(relation, name).comment
    if listed and (relation != "attempts" or (relation, name) in _read_columns()):
        return listed
    # Not imported for what a replay makes, whose columns are all listed here.
    from audit.sources.canonical import COLUMNS

    return COLUMNS[name].comment if name in COLUMNS and COLUMNS[name].comment else listed


def is_table(name: str) -> bool:
    """Tell whether a name is a table of `budget-audit table`."""
    return name in list_tables()


@functools.cache
def _read_columns() -> dict[tuple[str, str], ColumnMeaning]:
    """Read columns.csv by (relation, column); an empty relation means any."""
    with (find_folder("sql") / "columns.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return {
            (row["relation"], row["column"]): ColumnMeaning(
                *(row[field] for field in ColumnMeaning._fields)
            )
            for row in rows
        }
