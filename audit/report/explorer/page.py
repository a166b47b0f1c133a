"""The HTML report: one file that works offline and computes its numbers in the browser."""

import base64
import gzip
import json
import math
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from markupsafe import Markup

from audit import engine
from audit.output.display import (
    columns_with_intervals,
    is_number,
    number_format,
    values_of,
)
from audit.output.headings import heading
from audit.report import data, findings
from audit.report.content import list_sections
from audit.report.data import Row
from audit.report.explorer import pack
from audit.report.explorer.still import collect_first_view
from audit.report.explorer.texts import Texts
from audit.report.findings import Topic
from audit.report.pages import render_html
from audit.report.story import STORY, STORY_TABLES
from audit.report.wording import load_macros, render_line
from audit.rules import RULES
from audit.text import steerless
from audit.units import Unit, budget_name

HERE = Path(__file__).parent
PARTS = ("curve", "numbers", "forest", "timeline", "terminals", "texts", "policies")
SCRIPTS = ("arithmetic", "pictures", "parts", *PARTS, "page")
# Most rows of a table that the page shows, sorts and downloads.
MOST_ROWS = 5000
# With more archives than this, a page leaves out the table of every pair of them, and says what
# holds for all archives before what holds for each.
MOST_PAIRED = 12
# With more archives than this, a page holds only the tables behind its own words and pictures.
MOST_IN_FULL = 100
PAGE_TABLES = {*findings.FINDING_TABLES, *STORY_TABLES, "data_quality", "policies"}


def render_page(
    con: duckdb.DuckDBPyConnection, values: dict[str, Any], texts: Texts | None = None
) -> str:
    """Render the page; `texts` are the attempts' texts that were written beside it, if any."""
    walks, notes = pack.pack_walks(con, [row["archive"] for row in values["archives"]], texts)
    if len(values["archives"]) > MOST_IN_FULL:
        notes.append(
            f"A page of {len(values['archives']):,} archives is an overview: it holds the tables "
            "behind its words and pictures, and names the others. A page of a few archives holds "
            "them all: budget-audit report --archive NAME."
        )
    own = [rule for rule, _ in values["rules"] if rule not in RULES]
    if own:
        where = "the tables below" if "curves" in values["tables"] else "budget-audit table curves"
        notes.append(f"The picture shows strict and advisory; {', '.join(own)} stands in {where}.")
    written = data.read_replay_date(con)
    return render_html(
        HERE / "page.html.j2",
        **values
        | {
            "style": Markup((HERE / "page.css").read_text()),
            "scripts": [Markup((HERE / f"{name}.js").read_text()) for name in SCRIPTS],
            "still": collect_first_view(values),
            "date": f"Replayed {written}." if written else "",
            "definitions": RULES,
            "budget_name": partial(budget_name, unit=values["unit"]),
            "left_out": notes,
            "texts": texts.size if texts else "",
            "has_policies": "policies" in values["tables"],
            "commands": _write_commands(dict(values["settings"])),
            "walks": Markup(base64.b64encode(walks or b"").decode()),
            "tables": Markup(base64.b64encode(_pack_tables(values)).decode()),
        },
    )


def list_left_out(archives: int) -> dict[str, str]:
    """Return the tables that the page leaves out at this number of archives, and why."""
    reasons = {
        name: f"left out with more than {most} archives; budget-audit table {name} prints it"
        for most, names in (
            (MOST_PAIRED, {"archive_comparisons"}),
            (MOST_IN_FULL, {*engine.list_tables()} - PAGE_TABLES),
        )
        if archives > most
        for name in names
    }
    reasons["budget_curve"] = (
        "the picture at the top is this table, for any selector and cap; "
        "budget-audit table budget_curve prints it"
    )
    return reasons


def _pack_tables(values: dict[str, Any]) -> bytes:
    """Compress every table at full precision, and the findings, as JSON.

    The page formats the cells and writes the CSV itself.
    """
    packed = {
        "tables": [
            {
                "name": section.name,
                "purpose": section.purpose,
                "notes": [steerless(note) for note in section.notes],
                "rows": section.shown,
                **({"cut": True} if section.shown < section.total else {}),
                **_pack_columns(section.name, values["tables"].get(section.name), values["unit"]),
            }
            for section in list_sections(values, MOST_ROWS, is_printed=False)
        ],
        "unit": {"name": values["unit"].name, "scale": values["unit"].scale},
        "opening": _choose_opening(values["story"], values["unit"]),
        "findings": _list_findings(values["topics"], values["unit"]),
        "quality": {steerless(name): "; ".join(lines) for name, lines in values["unfit"].items()},
    }
    return gzip.compress(json.dumps(packed, separators=(",", ":")).encode(), 6, mtime=0)


def _choose_opening(story: Row | None, unit: Unit) -> dict[str, Any] | None:
    """Return the archive and budget that the page shows first, and why; None without labels."""
    if story is None:
        return None
    why = render_line(load_macros(STORY, unit).why, story)
    return {"archive": steerless(story["archive"]), "budget": story["budget"], "why": why}


def _pack_columns(name: str, table: pa.Table | None, unit: Unit) -> dict[str, Any]:
    """Return a table's values by column, and the label and format of each column."""
    if table is None:
        return {"values": {}, "columns": []}
    merged = columns_with_intervals(table)
    ends = {f"{x}_{end}" for x in merged for end in ("low", "high")}
    shown = table.slice(0, MOST_ROWS)
    return {
        "values": {
            column: [_convert_value(value) for value in values_of(shown[column])]
            for column in shown.column_names
        },
        "columns": [
            {
                "name": field.name,
                "label": heading(field.name, name, unit),
                "numeric": is_number(field.type),
                "format": number_format(name, field.name),
                **({"ranged": True} if field.name in merged else {}),
            }
            for field in shown.schema
            if field.name not in ends
        ],
    }


def _convert_value(value: Any) -> Any:
    """Convert a value to JSON that JavaScript reads exactly: long integers become texts."""
    if isinstance(value, Decimal):
        value = float(value)
    is_exact = value is None or (isinstance(value, int) and abs(value) < 2**53)
    is_finite = isinstance(value, float) and math.isfinite(value)
    return value if is_exact or is_finite else steerless(str(value))


def _list_findings(topics: list[Topic], unit: Unit) -> list[dict[str, Any]]:
    """Return the rows of the page's findings: a summary per question, then each finding."""
    rows: list[dict[str, Any]] = []
    for topic in topics:
        summary = dict.fromkeys(("short", "sentence"), topic.summary)
        shared = {"question": topic.question, "budget": None, "selector": ""}
        rows.append(shared | {"archive": "all", "source": ""} | summary)
        for finding in topic.findings:
            source = filter(None, (f"check: table {finding.table}", "; ".join(finding.keys)))
            rows.append(
                {
                    "question": topic.question,
                    "archive": steerless(finding.archive),
                    "short": steerless(finding.short or finding.sentence),
                    "sentence": steerless(finding.sentence),
                    "source": steerless(", ".join(source)),
                    "budget": finding.budget and round(finding.budget * unit.scale),
                    "selector": finding.selector,
                }
            )
    if len({finding.archive for topic in topics for finding in topic.findings}) > MOST_PAIRED:
        # Else the first rows would all be about one question: the summaries go first.
        rows.sort(key=lambda row: row["source"] != "")
    return rows


def _write_commands(settings: dict[str, str]) -> list[str]:
    """Write the commands that reproduce these numbers from the same database."""
    options = (
        *("unit", "budgets", "caps", "primary_cap", "orders", "order_seed", "primary_selector"),
        *("rules", "policies", "terminals", "replicates", "bootstrap_seed"),
    )
    given = {name: settings[name] for name in options if settings.get(name)}
    for kind in given.keys() & {"rules", "policies"}:
        # An option takes no names of the user's own plug-ins; the database keeps those.
        if (
            {*given[kind].split(",")}
            - {plugin.name for plugin in engine.load_plugins(kind)}
            - {"none"}
        ):
            del given[kind]
    arguments = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in given.items())
    return [
        f"budget-audit replay --db audit.duckdb {arguments}",
        "budget-audit report --db audit.duckdb --out report",
        "budget-audit check --db audit.duckdb",
    ]
