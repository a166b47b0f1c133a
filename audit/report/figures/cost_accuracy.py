"""The figure cost_accuracy: accuracy against realized cost."""

from collections.abc import Sequence
from functools import partial

import duckdb

from audit import engine
from audit.output.headings import replayed_unit
from audit.report import data
from audit.report.data import Row
from audit.report.figures import panels
from audit.report.figures.drawing import Drawing
from audit.report.figures.panels import Panel
from audit.units import budget_name


def cost_accuracy(con: duckdb.DuckDBPyConnection, archives: Sequence[str] | None = None) -> Drawing:
    """Draw accuracy against realized mean cost, and strict at the cost of each advisory point."""
    unit = replayed_unit(con)
    rows = panels.read_rows(con, "curves", archives)
    rows = [row | {"label": budget_name(row["budget"], unit)} for row in rows]
    matched = data.group_by_archive(engine.compute_table(con, "matched_cost").to_pylist())
    lines = panels.read_rule_lines(con)
    right = 1.06 * max(row["cost"] for row in rows)
    words = "Labels: the budget B. Diamonds: strict at the budget that costs what advisory costs."

    def values(panel: Panel) -> Row:
        return {
            "domain": panels.percent_domain(rows),
            "right": right,
            "first": min(row["budget"] for row in panel.rows),
            "lines_joined": lines[panel.archive],
            "same_cost": matched.get(panel.archive, []),
        }

    title = "Accuracy against realized cost"
    return partial(panels.draw_panels, con, "cost_accuracy", rows, title, words, values)
