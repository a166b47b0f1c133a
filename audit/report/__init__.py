"""The report and the figures, made from the tables."""

from audit.report.build import FORMATS, report
from audit.report.figures import FIGURES, Look, save_figure, timeline

__all__ = ["FIGURES", "FORMATS", "Look", "report", "save_figure", "timeline"]
