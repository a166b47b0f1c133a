"""The paired accuracy change in each archive's shorter and longer half."""

from collections.abc import Callable
from functools import partial

from audit.output.display import budget_name
from audit.report.data import Row
from audit.report.figures.panels import Panel, PanelFigure, Sheet, extent


@partial(
    PanelFigure,
    "length_strata",
    "Accuracy change in the shorter and the longer half",
    needs="delta",
)
def length_strata(sheet: Sheet) -> tuple[str, Callable[[Panel], Row]]:
    """Draw the paired accuracy change in each archive's shorter and longer half, with intervals."""
    low, high = extent(sheet.rows, "delta")
    budgets = sorted({row["budget"] for row in sheet.rows})
    values = {
        "domain": [min(0, low), max(0, high)],
        "budgets": [budget_name(budget, sheet.unit) for budget in budgets],
    }
    words = "Advisory minus strict at the same B, with 95 % problem-bootstrap intervals."
    return words, lambda panel: values
