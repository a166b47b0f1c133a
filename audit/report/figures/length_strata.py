"""The figure length_strata: accuracy changes of shorter and longer problems."""

from collections.abc import Sequence
from functools import partial

import duckdb

from audit.output.headings import replayed_unit
from audit.report.figures import panels
from audit.report.figures.drawing import Drawing
from audit.units import budget_name


def length_strata(con: duckdb.DuckDBPyConnection, archives: Sequence[str] | None = None) -> Drawing:
    """Draw the paired accuracy change in each archive's shorter and longer half, with intervals."""
    unit = replayed_unit(con)
    rows = panels.read_rows(con, "length_strata", archives, "delta")
    rows = [row | {"shown_budget": budget_name(row["budget"], unit)} for row in rows]
    low, high = panels.find_extent(rows, "delta")
    values = {
        "domain": [min(0, low), max(0, high)],
        "budgets": [
            budget_name(budget, unit) for budget in sorted({row["budget"] for row in rows})
        ],
    }
    words = "Advisory minus strict at the same B, with 95 % problem-bootstrap intervals."
    title = "Accuracy change in the shorter and the longer half"
    return partial(
        panels.draw_panels, con, "length_strata", rows, title, words, lambda panel: values
    )
