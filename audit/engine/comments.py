"""What every public relation and column means, for the database's catalogue and for `schema`."""

import csv
import functools
import re

import duckdb

from audit.database.schema import relations
from audit.engine.sql_files import (
    exploratory_names,
    resource,
    stage_file,
    stage_names,
    table_names,
)
from audit.text import literal, quoted

# What users may rely on; every other relation of the database is the engine's own business.
PUBLIC_RELATIONS = (
    "attempts",
    "texts",
    "grades",
    "sources",
    "problems",
    "problem_names",
    "token_counts",
    "settings",
    "budgets",
    "caps",
    "orders",
    "prefixes",
    "replays",
    "selections",
    "results",
    "answer_changes",
    "cost_changes",
    "tallies",
    "prefix_events",
    "policy_stops",
    "policy_replays",
    "policy_selections",
)
BOUNDS = {"low": "lower", "high": "upper"}


def comment_relations(con: duckdb.DuckDBPyConnection) -> None:
    """Write into the catalogue what the relations of ours that are there mean."""
    kinds = relations(con)
    statements = []
    for name in sorted(set(kinds) & {*PUBLIC_RELATIONS, *stage_names()}):
        about = relation_comment(name)
        if about:
            words = about if name in PUBLIC_RELATIONS else f"internal: {about}"
            statements.append(f"comment on {kinds[name]} {name} is {literal(words)}")
        if name in PUBLIC_RELATIONS:
            for column in con.table(name).columns:
                if means := column_comment(name, column):
                    where = f"{name}.{quoted(column)}"
                    statements.append(f"comment on column {where} is {literal(means)}")
    con.execute(";\n".join(statements))


@functools.cache
def relation_comment(name: str) -> str:
    """What a row of a relation or table means: the first line of its file, or of the list."""
    if name in stage_names():
        first = (resource("sql") / stage_file(name)).read_text(encoding="utf-8").split("\n")[0]
        return re.sub(rf"^-- {name}: ", "", first)
    return _listed().get((name, ""), "")


def column_comment(relation: str, column: str) -> str:
    """What a column of a relation or table means."""
    for name in (relation, ""):
        if (name, column) in _listed():
            return _listed()[name, column]
    estimate, _, end = column.rpartition("_")
    if end in BOUNDS and estimate:
        return f"{BOUNDS[end]} end of the 95 % interval of {estimate}"
    rule, _, what = column.partition("_")
    if what and rule in ("strict", "advisory"):
        return f"{what.replace('_', ' ')} under {rule}"
    return ""


def is_table(name: str) -> bool:
    """Whether a name is that of a table, which is computed when it is asked for."""
    return name in (*table_names(), *exploratory_names())


@functools.cache
def _listed() -> dict[tuple[str, str], str]:
    """The list of columns by relation and column; a column of any relation has none."""
    with (resource("sql") / "columns.csv").open(encoding="utf-8", newline="") as file:
        return {(r["relation"], r["column"]): r["comment"] for r in csv.DictReader(file)}
