"""Findings of the report in sentences: for each question a select and a template.

`sql/report/finding_X.sql` selects the rows behind each finding, the most important row first, and
`X.j2` writes them as sentences.
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
from audit.report.wording import load_macros, render_line
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
    for name in engine.parse_relations(engine.render(f"finding_{topic}"))
    if name in engine.list_tables()
}


@dataclass(frozen=True)
class Finding:
    """One finding about one archive: a sentence, a short form, and the rows that prove it."""

    archive: str
    sentence: str
    table: str
    keys: list[str]
    short: str
    # Of the first row behind it, where that has them.
    budget: float | None
    selector: str


@dataclass(frozen=True)
class Topic:
    """A question, its answer over all archives in one line, and the findings per archive."""

    question: str
    summary: str
    findings: list[Finding]


def find_topics(tables: Mapping[str, pa.Table], unit: Unit) -> list[Topic]:
    """Answer every question that the tables can answer, in reading order.

    `tables` also holds the relations `settings` and `referenced_archives`.
    """
    with data.connect_tables(tables) as con:
        topics = [find_topic(con, name, unit) for name in TOPICS]
    return [found for found in topics if found is not None]


def find_topic(con: duckdb.DuckDBPyConnection, name: str, unit: Unit) -> Topic | None:
    """Answer one question from the tables; return None if no row answers it."""
    try:
        rows = con.sql(engine.render(f"finding_{name}")).to_arrow_table().to_pylist()
    except duckdb.CatalogException:
        # One of its tables is missing.
        return None
    grouped = itertools.groupby(rows, lambda row: (row["archive"], row["source"], row.get("kind")))
    behind = [list(group) for _, group in grouped]
    if not behind:
        return None
    words = load_macros(Path(__file__).with_name(f"{name}.j2"), unit)
    firsts = [rows[0] for rows in behind]
    archives = len({row["archive"] for row in firsts})
    question = render_line(words.question, firsts)
    summary = render_line(words.summary, firsts, archives)
    return Topic(question, summary, [_write_finding(words, rows) for rows in behind])


def _write_finding(words: Any, rows: list[Row]) -> Finding:
    """Write the finding that these rows show, with the keys of the rows."""
    row = rows[0]
    columns = [name for name in key_columns(row["source"]) if name != "archive"]
    keys = [write_key(row, *columns) for row in rows if row[columns[0]] is not None]
    sentence, short = render_line(words.sentence, row, rows), render_line(words.short, row)
    budget = next((row[name] for name in columns if name.endswith("budget")), None)
    selector = row["selector"] if "selector" in columns else ""
    return Finding(row["archive"], sentence, row["source"], keys, short, budget, selector)


def write_key(row: Row, *columns: str) -> str:
    """Write the key of a row as text, 'budget = 2, selector = first'."""

    def format_value(value: Any) -> str:
        return f"{value:.9f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)

    return ", ".join(f"{name} = {format_value(row[name])}" for name in columns)
