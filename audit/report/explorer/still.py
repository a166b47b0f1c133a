"""What a page shows before its scripts run: the story, a table and a curve that stand still."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from audit.output.display import budget_name, display_columns
from audit.output.terminal import DisplayColumn
from audit.report.data import Row, by_archive
from audit.report.story import story_lines
from audit.report.wording import macros, said
from audit.rules import order_rules
from audit.units import Unit

# Rows of the table, and the size of the curve with the margins for its axes.
MOST_ROWS = 60
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 40, 80, 14, 40
COLUMNS = (
    *("archive", "budget", "strict_accuracy", "advisory_accuracy", "delta", "delta_low"),
    *("delta_high", "strict_cost_ratio", "advisory_cost_ratio"),
)


def still(tables: Mapping[str, pa.Table], story: Row | None, unit: Unit) -> dict[str, Any]:
    """Return the lines of the story, the columns of `main`, and a curve of the story's archive."""
    words = macros(Path(__file__).parents[1] / "story.j2", unit)
    main = tables.get("main")
    columns: list[DisplayColumn] = []
    if main is not None:
        columns = display_columns("main", main.select(COLUMNS).slice(0, MOST_ROWS))
    curve = None
    if story is not None and "curves" in tables:
        rows = by_archive(tables["curves"].to_pylist())[story["archive"]]
        curve = _curve([row for row in rows if row["accuracy"] is not None], unit)
    return {
        "lines": story_lines(story, unit),
        "why": said(words.why, story) if story else "",
        "columns": columns,
        "rows": min(MOST_ROWS, main.num_rows) if main is not None else 0,
        "curve": curve,
        "archive": story and story["archive"],
    }


def _curve(rows: list[Row], unit: Unit) -> dict[str, Any]:
    """Return the places of a curve's points, lines and labels; budgets at equal ratios."""
    budgets = sorted({row["budget"] for row in rows})
    low, high = math.log(budgets[0]), math.log(budgets[-1])

    def across(budget: float) -> float:
        share = (math.log(budget) - low) / (high - low) if high > low else 0.5
        return round(LEFT + 12 + share * (WIDTH - LEFT - RIGHT - 12), 1)

    def down(accuracy: float) -> float:
        return round(TOP + (1 - accuracy / 100) * (HEIGHT - TOP - BOTTOM), 1)

    lines = []
    for rule in order_rules(row["rule"] for row in rows):
        own = sorted((row for row in rows if row["rule"] == rule), key=lambda row: row["budget"])
        points = [(across(row["budget"]), down(row["accuracy"])) for row in own]
        lines.append({"rule": rule, "points": points})
    return {
        "size": (WIDTH, HEIGHT),
        "left": LEFT,
        "bottom": HEIGHT - BOTTOM,
        "right": WIDTH - RIGHT,
        "lines": lines,
        "budgets": [(across(budget), budget_name(budget, unit)) for budget in budgets],
        "percents": [(down(percent), percent) for percent in (0, 25, 50, 75, 100)],
    }
