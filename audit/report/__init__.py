"""Figures and the report: what the tables say, for people."""

from audit.report.build import FORMATS, report
from audit.report.figures import (
    FIGURES,
    Look,
    budget_curve,
    cost_accuracy,
    length_strata,
    policies,
    save_figure,
    timeline,
)

__all__ = [
    "FIGURES",
    "FORMATS",
    "Look",
    "budget_curve",
    "cost_accuracy",
    "length_strata",
    "policies",
    "report",
    "save_figure",
    "timeline",
]
