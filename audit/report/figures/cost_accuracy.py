"""Accuracy against realized cost, and strict at each advisory point's cost."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from audit.output.display import budget_name
from audit.report import data
from audit.report.data import Row
from audit.report.figures import panels
from audit.report.figures.drawing import (
    GREY,
    INK,
    altair_module,
    axis_labels,
    inline,
    quantity,
    tips,
)
from audit.report.figures.panels import Panel, PanelFigure, Sheet
from audit.report.wording import number, with_interval
from audit.units import Unit


class Scales(NamedTuple):
    """A panel's size in pixels, and where its axes end: cost from 0, accuracy in percent."""

    width: float
    height: float
    right: float
    bottom: float
    top: float


@partial(PanelFigure, "curves", "Accuracy against realized cost")
def cost_accuracy(sheet: Sheet) -> tuple[str, Callable[[Panel], Any]]:
    """Accuracy against realized mean cost, with strict at the cost of each advisory point."""
    alt, unit = sheet.alt, sheet.unit
    matched = data.by_archive(sheet.table("matched_cost"))
    curves = data.by_archive(sheet.table("budget_curve"))
    domain = panels.percent_around(sheet.rows, 0.12)
    scale = alt.Scale(domain=domain, nice=False, zero=False)
    top = 1.06 * max(row["cost"] for row in sheet.rows)
    across = alt.Scale(domain=[0, top], nice=False, clamp=True)
    axis = alt.Axis(labelExpr=axis_labels(unit), tickCount=5, labelOverlap="greedy")
    x = quantity("X", "cost", scale=across, title=f"mean cost, {unit.many}", axis=axis)
    tooltip = sheet.tips("archive", "rule", "budget", "cost", "accuracy")
    order = alt.Order(field="budget", type="quantitative")

    def draw(panel: Panel) -> Any:
        points = panel.rows
        y = panel.y("accuracy", "accuracy, %", scale, tickCount=6)
        marks = panels.rule_marks(panels.rule_order(points))
        first = min(point["budget"] for point in points)
        lines = [
            row
            for row in panels.rule_lines(points, curves.get(panel.archive, []))
            if row["cost"] <= top and row["budget"] >= first
        ]
        scales = Scales(panel.width, panel.height(250), top, *domain)
        return panel.layer(
            alt.Chart(inline(lines))
            .mark_line(strokeWidth=1.6, opacity=0.75)
            .encode(x=x, y=y, color=marks["color"], order=order),
            *_same_cost(matched.get(panel.archive, []), scale, across, unit),
            alt.Chart(inline(points))
            .mark_point(filled=True, size=80, opacity=1)
            .encode(x=x, y=y, tooltip=tooltip, **marks),
            alt.Chart(inline(_labels(points, scales, unit)))
            .mark_text(fontSize=11)
            .encode(
                x=quantity("X", "at", scale=across),
                y=quantity("Y", "beside", scale=scale),
                text=alt.Text(field="label", type="nominal"),
                color=marks["color"],
            ),
            height=250,
        )

    words = "Labels: the budget B. Diamonds: strict at the budget that costs what advisory costs."
    return words, draw


def _same_cost(matched: Sequence[Row], scale: Any, across: Any, unit: Unit) -> list[Any]:
    """Strict at the budget that costs what an advisory point costs, and the step between them."""
    alt = altair_module()
    steps = [
        {
            "cost": row["advisory_cost"],
            "advisory": row["advisory_accuracy"],
            "same_cost": row["strict_accuracy"],
            "shown_budget": budget_name(row["advisory_budget"], unit),
            "shown_strict": budget_name(row["strict_budget"], unit),
            "shown_accuracy": number(row["strict_accuracy"]),
            "shown_delta": with_interval(row, "delta"),
        }
        for row in matched
        if row["delta"] is not None
    ]
    if not steps:
        return []
    step = alt.Chart(inline(steps)).encode(
        x=quantity("X", "cost", scale=across),
        y=quantity("Y", "same_cost", scale=scale),
        tooltip=tips(
            ("shown_budget", "advisory budget"),
            ("shown_strict", "strict budget of equal cost"),
            ("shown_accuracy", "strict there, %"),
            ("shown_delta", "advisory minus that, points"),
        ),
    )
    return [
        step.mark_rule(strokeDash=[1, 2], strokeWidth=1.5, color=INK).encode(
            y2=alt.Y2(field="advisory")
        ),
        step.mark_point(
            shape="diamond", size=70, filled=True, fill="white", stroke=GREY, opacity=1
        ),
    ]


def _labels(points: Sequence[Row], scales: Scales, unit: Unit) -> list[Row]:
    """The budget of every point, written where it covers the least of other labels and points."""
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
    """The area that two boxes share."""
    across = min(box[1], other[1]) - max(box[0], other[0])
    down = min(box[3], other[3]) - max(box[2], other[2])
    return across * down if across > 0 and down > 0 else 0.0
