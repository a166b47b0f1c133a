"""Figures and the report: what the tables say, for people."""

from audit.report.build import FORMATS, report
from audit.report.figures import (
    budget_curves,
    cost_accuracy,
    length_strata,
    save_figure,
    timeline,
)

__all__ = [
    "FORMATS",
    "budget_curves",
    "cost_accuracy",
    "length_strata",
    "report",
    "save_figure",
    "timeline",
]
