"""Figures and the report: what the tables say, for people."""

from audit.report.build import FORMATS, report
from audit.report.figures import FIGURES, Look, save_figure, timeline

__all__ = ["FIGURES", "FORMATS", "Look", "report", "save_figure", "timeline"]
