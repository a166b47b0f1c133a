"""Accuracy against realized cost, and strict at each advisory point's cost."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from audit.output.display import budget_name
from audit.report import data
from audit.report.data import Row
from audit.report.figures import panels
from audit.report.figures.panels import Panel, PanelFigure, Sheet
from audit.report.wording import number, with_interval
from audit.rules import order_rules
from audit.units import Unit


class Scales(NamedTuple):
    """A panel's size in pixels, and where its axes end: cost from 0, accuracy in percent."""

    width: float
    height: float
    right: float
    bottom: float
    top: float


@partial(PanelFigure, "curves", "Accuracy against realized cost")
def cost_accuracy(sheet: Sheet) -> tuple[str, Callable[[Panel], Row]]:
    """Accuracy against realized mean cost, with strict at the cost of each advisory point."""
    matched = data.by_archive(sheet.table("matched_cost"))
    curves = data.by_archive(sheet.table("budget_curve"))
    domain = panels.percent_around(sheet.rows, 0.12)
    right = 1.06 * max(row["cost"] for row in sheet.rows)

    def values(panel: Panel) -> Row:
        points = panel.rows
        first = min(point["budget"] for point in points)
        lines = panels.rule_lines(points, curves.get(panel.archive, []))
        scales = Scales(panel.width, panel.height(250), right, *domain)
        return {
            **panels.rule_marks(
                order_rules(row["rule"] for row in points), panels.rule_legend(sheet.look)
            ),
            "domain": domain,
            "right": right,
            "lines_joined": [
                row for row in lines if row["cost"] <= right and row["budget"] >= first
            ],
            "same_cost": [
                _same_cost(row, sheet.unit)
                for row in matched.get(panel.archive, [])
                if row["delta"] is not None
            ],
            "labels": _labels(points, scales, sheet.unit),
        }

    words = "Labels: the budget B. Diamonds: strict at the budget that costs what advisory costs."
    return words, values


def _same_cost(row: Row, unit: Unit) -> Row:
    """Strict at the budget that costs what an advisory point costs, and the step between them."""
    return {
        "cost": row["advisory_cost"],
        "advisory": row["advisory_accuracy"],
        "same_cost": row["strict_accuracy"],
        "shown_budget": budget_name(row["advisory_budget"], unit),
        "shown_strict": budget_name(row["strict_budget"], unit),
        "shown_accuracy": number(row["strict_accuracy"]),
        "shown_delta": with_interval(row, "delta"),
    }


def _labels(points: Sequence[Row], scales: Scales, unit: Unit) -> list[Row]:
    """Place the budget of every point where it covers the least of other labels and points."""
    wide, high = scales.width / scales.right, scales.height / (scales.top - scales.bottom)
    dots = [(row["cost"] * wide, -row["accuracy"] * high) for row in points]
    taken = [(x - 5, x + 5, y - 5, y + 5) for x, y in dots]
    labels = []
    for row, (x, y) in zip(points, dots, strict=True):
        text = budget_name(row["budget"], unit)
        half = 3.4 * len(text)
        side, below = half + 9, 1 if row["rule"] == "strict" else -1
        places = [(0, -13)] if below < 0 else [(side, 11)]
        places += [(0, 13 * below), (side, 0), (-side, 0), (side, 11 * below), (-side, 11 * below)]
        places += [(0, -13 * below), (side, -11 * below), (-side, -11 * below), (0, 26 * below)]
        boxes = [
            (x + dx - half, x + dx + half, y + dy - 6, y + dy + 6)
            for dx, dy in places
            if x + dx - half > 0 and y + dy + 6 < -scales.bottom * high
        ]
        best = min(boxes, key=lambda box: sum(_overlap(box, other) for other in taken))
        taken.append(best)
        middle = ((best[0] + best[1]) / 2, (best[2] + best[3]) / 2)
        labels.append(row | {"label": text, "at": middle[0] / wide, "beside": -middle[1] / high})
    return labels


def _overlap(box: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Return the area that two boxes share."""
    across = min(box[1], other[1]) - max(box[0], other[0])
    down = min(box[3], other[3]) - max(box[2], other[2])
    return across * down if across > 0 and down > 0 else 0.0
