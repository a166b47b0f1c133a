"""Accuracy over the budget, and below it the realized cost."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from audit.report import data
from audit.report.data import Row
from audit.report.figures import panels
from audit.report.figures.drawing import INK, altair_module, inline, quantity
from audit.report.figures.panels import Panel, PanelFigure, Sheet, rule_lines


@partial(PanelFigure, "curves", "Accuracy and realized cost over the budget")
def budget_curve(sheet: Sheet) -> tuple[str, Callable[[Panel], Any]]:
    """Accuracy at every budget of the table, and below it the realized cost as a multiple of B."""
    alt, unit, rows = sheet.alt, sheet.unit, sheet.rows
    shown = {row["archive"] for row in rows}
    curve = [row for row in sheet.table("budget_curve") if row["archive"] in shown]
    curves = data.by_archive(curve)
    lines = rule_lines(rows, curve)
    ends = data.bank_ends(sheet.con)
    budgets = sorted({row["budget"] for row in rows})
    reached = [row["budget"] for row in lines]
    low, high = panels.extent(lines, "cost_ratio")
    # Below the cheapest attempt advisory pays many times B: equal ratios are equal steps.
    ratio = alt.Scale(type="log", domain=[min(low, 0.9), max(high, 1.1)], nice=False)
    tens = panels.percent_domain([*rows, *lines], "accuracy")
    percent = alt.Scale(domain=tens, nice=False, zero=False)
    ticks = panels.round_ticks(min(low, 0.9), max(high, 1.1))
    tooltip = sheet.tips("archive", "rule", "budget", "accuracy", "cost", "cost_ratio")
    x = panels.budget_axis(budgets, reached, None, unit)
    below = panels.budget_axis(budgets, reached, f"budget B, {unit.measures}", unit)
    line_at_one = alt.Chart(inline([{"one": 1}])).mark_rule(strokeDash=[2, 3], color=INK)

    def draw(panel: Panel) -> Any:
        own = curves.get(panel.archive, [])
        points = [
            row | {"is_bank_end": (row["archive"], row["budget"]) in ends} for row in panel.rows
        ]
        accuracy = panel.y("accuracy", "accuracy, %", percent, tickCount=5)
        look = {"values": ticks, "labelOverlap": "greedy", "format": "~g"}
        cost = panel.y("cost_ratio", "realized cost / B", ratio, **look)
        return alt.vconcat(
            panel.layer(
                *_band(own, x, percent),
                *_lines(points, own, x, accuracy, tooltip),
                height=190,
            ),
            panel.layer(
                line_at_one.encode(y=quantity("Y", "one", scale=ratio)),
                *_lines(points, own, below, cost, tooltip),
                height=110,
                is_titled=False,
            ),
            spacing=14,
        )

    words = (
        "Shaded: where the advisory curve may lie (95 %, all budgets together). Bars: 95 % "
        "interval at the budgets of the run. Dotted line: cost equal to B."
        + (" Hollow: over 5 % of replays ended because the bank ran out." if ends else "")
    )
    return words, draw


def _band(curve: Sequence[Row], x: Any, scale: Any) -> list[Any]:
    """The band of the whole difference, on top of the strict curve, where there is one."""
    low, high = scale["domain"]
    shade = [
        {
            "budget": row["budget"],
            **{
                end: min(high, max(low, row["strict_accuracy"] + row[end]))
                for end in ("band_low", "band_high")
            },
        }
        for row in curve
        if row["band_low"] is not None
    ]
    if not shade:
        return []
    (colour,) = panels.rule_colours(["advisory"])
    area = altair_module().Chart(inline(shade)).mark_area(opacity=0.16, color=colour)
    ends = {"y": quantity("Y", "band_low", scale=scale), "y2": altair_module().Y2("band_high")}
    return [area.encode(x=x, **ends)]


def _lines(
    points: Sequence[Row], curve: Sequence[Row], x: Any, y: Any, tooltip: list[Any]
) -> list[Any]:
    """A line per rule, its points at the budgets of the run, and their intervals as bars.

    A point marked by `is_bank_end` is hollow.
    """
    alt, column = altair_module(), y["field"]
    rules = panels.rule_order(points)
    marks = panels.rule_marks(rules)
    points = sorted(points, key=lambda row: rules.index(row["rule"]))
    barred = alt.Chart(inline(row for row in points if row[f"{column}_low"] is not None))
    lines = sorted(rule_lines(points, curve), key=lambda row: rules.index(row["rule"]))
    layers = [
        barred.mark_rule(strokeWidth=2, opacity=0.5).encode(
            x=x,
            y=quantity("Y", f"{column}_low", scale=y["scale"]),
            y2=alt.Y2(f"{column}_high"),
            color=marks["color"],
        ),
        alt.Chart(inline(lines)).mark_line(strokeWidth=2).encode(x=x, y=y, color=marks["color"]),
    ]
    for is_bank_end in (False, True):
        marked = [row for row in points if row["is_bank_end"] == is_bank_end]
        look = {"filled": False, "fill": "white"} if is_bank_end else {"filled": True}
        if marked:
            chart = alt.Chart(inline(marked)).encode(x=x, y=y, tooltip=tooltip, **marks)
            layers.append(chart.mark_point(size=50, opacity=1, **look))
    return layers
