"""The HTML report: one file that computes its numbers itself, offline."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import duckdb
from markupsafe import Markup

from audit import engine
from audit.output.captions import RULES
from audit.output.display import format_table
from audit.report import data, findings
from audit.report.content import MOST_TOLD_APART, Section, sections
from audit.report.explorer import pack
from audit.report.explorer.texts import Texts
from audit.report.findings import Topic
from audit.report.pages import html_page
from audit.text import steerless
from audit.units import Unit, read_budget

HERE = Path(__file__).parent
SCRIPTS = (
    "arithmetic",
    "pictures",
    "parts",
    "curve",
    "numbers",
    "forest",
    "timeline",
    "texts",
    "policies",
    "page",
)
# The page shows, sorts and downloads so many rows of a table at most.
MOST_ROWS = 5000
# With more archives than this, a page leaves out the table of every pair of them.
MOST_PAIRED = 12
# With more archives than this, a page holds only the tables behind its own words and pictures.
MOST_IN_FULL = 100
PAGE_TABLES = {*findings.FINDING_TABLES, "data_quality", "policies"}
PLUGIN_KINDS = ("rules", "policies")


def page(con: duckdb.DuckDBPyConnection, values: dict[str, Any], texts: Texts | None = None) -> str:
    """The whole page; texts, where they were written, stand in scripts beside it."""
    walks, notes = pack.walks(con, [row["archive"] for row in values["archives"]], texts)
    settings = dict(values["settings"])
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
    shown = sections(values, MOST_ROWS)
    written = data.replayed_on(con)
    scripts = [(HERE / f"{name}.js").read_text() for name in SCRIPTS]
    return html_page(
        HERE / "page.html.j2",
        **values
        | {
            "style": Markup((HERE / "page.css").read_text()),
            "scripts": [Markup(script) for script in scripts],
            "date": f"Replayed {written}." if written else "",
            "definitions": RULES,
            "left_out": notes,
            "texts": texts.size if texts else "",
            "has_policies": "policies" in values["tables"],
            "commands": _commands(settings),
            "walks": Markup(pack.base64_text(walks)) if walks else "",
            "tables": Markup(pack.base64_text(_tables(values, shown))),
        },
    )


def left_out(archives: int) -> dict[str, str]:
    """Tables that a page of so many archives leaves out, and why."""
    names = engine.table_names()
    limits = {name: MOST_IN_FULL for name in names if name not in PAGE_TABLES}
    limits["archive_comparisons"] = MOST_PAIRED
    reasons = {
        name: f"left out with more than {most} archives; budget-audit table {name} prints it"
        for name, most in limits.items()
        if archives > most
    }
    reasons["budget_curve"] = (
        "the picture at the top is this table, for any selector and cap; "
        "budget-audit table budget_curve prints it"
    )
    return {name: why for name, why in reasons.items() if name in names}


def _tables(values: dict[str, Any], shown: list[Section]) -> bytes:
    """Every table as printed and as exported, and the findings, compressed."""
    packed = {
        "tables": [
            {
                "name": section.name,
                "purpose": section.purpose,
                "notes": [steerless(note) for note in section.notes],
                "rows": section.shown,
                **({"cut": True} if section.shown < section.total else {}),
                "csv": format_table(values["tables"][section.name].slice(0, section.shown), "csv")
                if section.name in values["tables"]
                else "",
                "columns": [
                    {
                        "name": column.header,
                        "label": column.heading,
                        "numeric": column.numeric,
                        "cells": column.cells
                        if column.numeric
                        else [steerless(cell) for cell in column.cells],
                    }
                    for column in section.columns
                ],
            }
            for section in shown
        ],
        "findings": _findings(values["topics"], values["unit"]),
        "quality": {steerless(name): "; ".join(lines) for name, lines in values["unfit"].items()},
    }
    return gzip.compress(json.dumps(packed, separators=(",", ":")).encode(), 6, mtime=0)


def _findings(topics: list[Topic], unit: Unit) -> list[dict[str, Any]]:
    """One row per question for all archives, then one per archive and finding."""
    rows: list[dict[str, Any]] = []
    for topic in topics:
        answer = {"question": topic.question, "archive": "all"}
        answer |= {"short": topic.summary, "sentence": topic.summary, "source": ""}
        rows.append(answer | {"budget": None, "selector": ""})
        for finding in topic.findings:
            keys = f", {'; '.join(finding.keys)}" if finding.keys else ""
            budget = re.search(r"budget = ([\d.]+)", keys)
            selector = re.search(r"selector = (\w+)", keys)
            rows.append(
                answer
                | {
                    "archive": steerless(finding.archive),
                    "short": steerless(finding.short or finding.sentence),
                    "sentence": steerless(finding.sentence),
                    "source": steerless(f"check: table {finding.table}{keys}"),
                    "budget": read_budget(budget[1], unit) if budget else None,
                    "selector": selector[1] if selector else "",
                }
            )
    if len({finding.archive for topic in topics for finding in topic.findings}) > MOST_TOLD_APART:
        # The rows that a list begins with would all be about one question: the answers go first.
        rows.sort(key=lambda row: row["source"] != "")
    return rows


def _commands(settings: dict[str, str]) -> list[str]:
    """The command lines that make these numbers again from the same database."""
    options = (
        *("unit", "budgets", "caps", "primary_cap", "orders", "order_seed", "primary_selector"),
        *("rules", "policies", "replicates", "bootstrap_seed"),
    )
    # Files of one's own have no name that an option takes; the database keeps them.
    built_in = {name: {plugin.name for plugin in engine.plugins(name)} for name in PLUGIN_KINDS}
    arguments = " ".join(
        f"--{name.replace('_', '-')} {settings[name]}"
        for name in options
        if settings.get(name)
        and (name not in PLUGIN_KINDS or {*settings[name].split(",")} <= {*built_in[name], "none"})
    )
    return [
        f"budget-audit replay --db audit.duckdb {arguments}",
        "budget-audit report --db audit.duckdb --out report",
        "budget-audit check --db audit.duckdb",
    ]
