"""The content of the report, as plain values for the templates of every format."""

import itertools
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy
import pyarrow as pa

from audit import __version__, engine
from audit.database import has_answers
from audit.engine import quality
from audit.errors import AuditError
from audit.load import provenance
from audit.output.captions import advisory_notes, is_simulated
from audit.output.display import DisplayColumn, display_columns
from audit.output.filters import Filter, filter_rows
from audit.output.headings import replayed_unit
from audit.progress import Progress
from audit.report import captions, data, findings
from audit.report.data import Row
from audit.report.story import read_story
from audit.report.wording import budget_name, load_macros, one_line, render_line
from audit.rules import describe_rule, order_rules
from audit.study import recorded
from audit.text import SIMULATED, join_names
from audit.units import Unit

MOST_ROWS = 200
VERSIONS = [
    ("budget-audit", __version__),
    ("duckdb", duckdb.__version__),
    ("numpy", numpy.__version__),
    ("pyarrow", pa.__version__),
    ("python", platform.python_version()),
]


@dataclass(frozen=True)
class Section:
    """One table of the report: its purpose, its notes, its columns as text."""

    name: str
    purpose: str
    notes: list[str]
    columns: list[DisplayColumn] = field(default_factory=list)
    shown: int = 0
    total: int = 0


def read_tables(
    con: duckdb.DuckDBPyConnection,
    names: Sequence[str],
    only: Filter | None = None,
    progress: Progress | None = None,
) -> tuple[dict[str, pa.Table], dict[str, str]]:
    """Read these tables, in the report's order; return them, and why others are missing."""
    rows_by_name: dict[str, pa.Table] = {}
    unavailable: dict[str, str] = {}
    chosen = [name for name in captions.TEXTS["tables"] if name in names]
    chosen += [name for name in names if name not in chosen]
    words = {"unit": replayed_unit(con).name}
    for done, name in enumerate(chosen):
        if progress:
            progress(name, done, len(chosen) + 2)
        try:
            rows = engine.compute_table(con, name)
            rows = filter_rows(name, rows, only) if only else rows
            rows_by_name[name] = rows.replace_schema_metadata(words)
        except AuditError as error:
            # A table may need more than a replay; the report leaves it out.
            unavailable[name] = str(error)
    return rows_by_name, unavailable


def _make_title(archives: Sequence[Row], sources: Sequence[Row]) -> str:
    """Write the default title, from the names of the source files or archives."""
    files = {row["file"].split(".")[0] for row in sources}
    names = [one_line(row["archive"]) for row in archives]
    if len(files) == 1:
        return f"Budget audit of {one_line(files.pop())}"
    return f"Budget audit of {join_names(names) if len(names) <= 3 else f'{len(names):,} archives'}"


def collect_content(
    con: duckdb.DuckDBPyConnection,
    tables: dict[str, pa.Table],
    unavailable: dict[str, str],
    own_title: str | None = None,
    only: Filter | None = None,
) -> dict[str, Any]:
    """Collect the values that the templates print, by the names that they use."""
    settings = data.read_settings(con)
    archives = [
        row for row in data.read_archives(con) if not only or row["archive"] in only.archives
    ]
    sources = data.read(con, "report_sources").to_pylist()
    simulated = is_simulated(con)
    named = data.read(con, "problem_numbers")
    shown = tables | ({"problems": named} if named.num_rows else {})
    read = {
        "settings": con.table("settings").to_arrow_table(),
        "referenced_archives": data.read(con, "referenced_archives"),
    }
    unit = replayed_unit(con)
    words = _load_sentences(archives, settings, unit, has_answers(con), simulated)
    heading = own_title or recorded.title(con) or _make_title(archives, sources)
    found = quality.find_findings(con, [row["archive"] for row in archives], moment="report")
    return {
        "title": (f"{SIMULATED}: " if simulated else "") + heading,
        "heading": heading,
        "simulated": simulated,
        "banner": f"{SIMULATED}: made by budget-audit simulate, not by a model",
        "scope": render_line(words.scope),
        "topics": findings.find_topics(tables | read, unit),
        "compared": [
            *((one_line(row["archive"]), render_line(words.holds, row)) for row in archives),
            *words.compared,
            ("Read as", provenance.notes(con, has_selectors=True)),
            *([("Shown", only.note().removeprefix("shown: "))] if only else []),
        ],
        "rules": [
            (rule, describe_rule(rule)) for rule in order_rules(settings["rules"].split(","))
        ],
        "selectors": _list_selectors(settings),
        # This paragraph is for agents, whose attempts have steps.
        "reading": captions.TEXTS["reading"]
        + [captions.TEXTS["agents"] for _ in con.execute("from step_ends limit 1").fetchall()],
        "unit": unit,
        "limits": render_line(words.limits),
        "story": read_story(tables),
        "warnings": [line.removeprefix("warn: ") for line in quality.write_lines(found, unit)],
        "unfit": {
            archive: [*dict.fromkeys(row.check.replace("_", " ") for row in own)]
            for archive, own in itertools.groupby(found, lambda row: row.archive)
        },
        "archives": archives,
        "tables": shown,
        "unavailable": unavailable,
        "sources": [row for row in sources if not only or row["archive"] in only.archives],
        "credits": recorded.credits(con),
        "settings": sorted(settings.items()),
        "versions": VERSIONS,
    }


def _load_sentences(
    archives: list[Row],
    settings: dict[str, str],
    unit: Unit,
    is_answered: bool,
    simulated: bool = False,
) -> Any:
    """Load the template of the sentences about what was loaded and replayed."""
    shown = [budget_name(float(budget), unit) for budget in settings["budgets"].split(",")]
    kind = "simulated" if simulated else "recorded"
    values = {"archives": archives, "settings": settings, "shown": shown, "kind": kind}
    path = Path(__file__).with_name("content.j2")
    return load_macros(path, unit, is_answered=is_answered, **values)


def list_sections(
    values: dict[str, Any], most_rows: int, *, is_printed: bool = True
) -> list[Section]:
    """Return a section for each table, with at most `most_rows` rows, and for each missing one.

    Without `is_printed` they have no cells: the page makes them itself.
    """
    settings = dict(values["settings"])
    found = []
    for name, table in values["tables"].items():
        shown = table.slice(0, most_rows)
        columns = display_columns(name, shown) if is_printed else []
        notes = _table_notes(name, table, settings, most_rows)
        counts = (shown.num_rows, table.num_rows)
        found.append(Section(name, captions.purpose(name), notes, columns, *counts))
    return found + [
        Section(name, captions.purpose(name), [f"Not available: {why.removeprefix(f'{name}: ')}."])
        for name, why in values["unavailable"].items()
    ]


def _table_notes(name: str, table: pa.Table, settings: dict[str, str], most_rows: int) -> list[str]:
    """Return the notes below a table: why it is empty or cut, and how to read it."""
    notes = [] if table.num_rows else [captions.empty_reason(name, settings)]
    if table.num_rows > most_rows:
        notes.append(
            f"The first {most_rows:,} of {table.num_rows:,} rows; "
            f"budget-audit export {name} --out DIR writes them all."
        )
    return notes + advisory_notes(name, table)


def _list_selectors(settings: dict[str, str]) -> list[tuple[str, str]]:
    """List the selectors and what each picks, the primary one first."""
    primary = settings["primary_selector"]
    return [
        (f"{name} (primary)" if name == primary else name, captions.selector_words(name))
        for name in sorted(settings["selectors"].split(","), key=lambda name: name != primary)
    ]
