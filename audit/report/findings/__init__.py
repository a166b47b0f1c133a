"""The findings in words: a question is a template, and the rows behind it are a select.

`X.j2` says what `sql/report/finding_X.sql` finds: the rows behind a finding, the telling one first.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit import engine
from audit.output.diff import key_columns
from audit.report import data
from audit.report.data import Row
from audit.report.wording import macros, said
from audit.units import Unit

# The questions, in reading order.
TOPICS = (
    "dominant_effect",
    "matched_cost",
    "convergence",
    "realized_cost",
    "coverage_and_accuracy",
    "unfinished_prefixes",
    "truncation",
    "grading",
    "control_checks",
)
# The tables that the sentences are made from.
FINDING_TABLES = {
    name
    for topic in TOPICS
    for name in engine.relations_read(engine.render(f"finding_{topic}"))
    if name in engine.table_names()
}


@dataclass(frozen=True)
class Finding:
    """One sentence about one archive, where to check it, and the same in a few words."""

    archive: str
    sentence: str
    table: str
    keys: list[str]
    short: str
    # The budget and the selector of the row behind it, where it is of one.
    budget: float | None
    selector: str


@dataclass(frozen=True)
class Topic:
    """A question, its answer over all archives in a line, and one or more findings per archive."""

    question: str
    summary: str
    findings: list[Finding]


def all_topics(tables: Mapping[str, pa.Table], unit: Unit) -> list[Topic]:
    """Return every topic that the tables support, in reading order; skip rows without labels.

    Beside tables of the interface they are `settings` and `referenced_archives`.
    """
    with data.holding(tables) as con:
        topics = [topic(con, name, unit) for name in TOPICS]
    return [found for found in topics if found is not None]


def topic(con: duckdb.DuckDBPyConnection, name: str, unit: Unit) -> Topic | None:
    """Return the topic, or none where there is nothing to say of any archive."""
    try:
        rows = con.sql(engine.render(f"finding_{name}")).to_arrow_table().to_pylist()
    except duckdb.CatalogException:
        # A table that could not be had.
        return None
    grouped = itertools.groupby(rows, lambda row: (row["archive"], row["source"], row.get("kind")))
    behind = [list(group) for _, group in grouped]
    if not behind:
        return None
    words = macros(Path(__file__).with_name(f"{name}.j2"), unit)
    firsts = [rows[0] for rows in behind]
    archives = len({row["archive"] for row in firsts})
    summary = said(words.summary, firsts, archives)
    return Topic(said(words.question, firsts), summary, [_finding(words, rows) for rows in behind])


def _finding(words: Any, rows: list[Row]) -> Finding:
    """Return the sentence about these rows, and where they stand."""
    row = rows[0]
    columns = [name for name in key_columns(row["source"]) if name != "archive"]
    keys = [key_of(row, *columns) for row in rows if row[columns[0]] is not None]
    sentence, short = said(words.sentence, row, rows), said(words.short, row)
    budget = next((row[name] for name in columns if name.endswith("budget")), None)
    selector = row["selector"] if "selector" in columns else ""
    return Finding(row["archive"], sentence, row["source"], keys, short, budget, selector)


def key_of(row: Row, *columns: str) -> str:
    """Return the row's place in its table, as a condition of SQL: 2.0 dollars are written 2."""

    def written(value: Any) -> str:
        return f"{value:.9f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)

    return ", ".join(f"{name} = {written(row[name])}" for name in columns)
