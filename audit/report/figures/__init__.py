"""The figures, as Vega-Lite specifications; every number comes from a table."""

from collections.abc import Callable

from audit.report.figures.budget_curve import budget_curve
from audit.report.figures.cost_accuracy import cost_accuracy
from audit.report.figures.drawing import Drawing, Look, save_figure
from audit.report.figures.length_strata import length_strata
from audit.report.figures.policies import policies
from audit.report.figures.timeline import timeline

__all__ = ["FIGURES", "Look", "save_figure", "timeline"]

# Figures with a panel per archive, by name; the timeline shows one replay.
FIGURES: dict[str, Callable[..., Drawing]] = {
    "budget_curve": budget_curve,
    "cost_accuracy": cost_accuracy,
    "length_strata": length_strata,
    "policies": policies,
}
