"""Accuracy over the budget, and below it the realized cost."""

from collections.abc import Sequence
from typing import Any

import duckdb

from audit.output.headings import replayed_unit
from audit.report import data
from audit.report.data import Row
from audit.report.figures.drawing import INK, PLAIN, Look, altair_module, inline, quantity, tips
from audit.report.figures.panels import (
    Panel,
    budget_axis,
    extent,
    in_panels,
    in_words,
    panel_height,
    percent_domain,
    round_ticks,
    rows_to_draw,
    rule_colours,
    rule_lines,
    rule_marks,
    rule_order,
)


def budget_curve(
    con: duckdb.DuckDBPyConnection,
    look: Look = PLAIN,
    *,
    archives: Sequence[str] | None = None,
    computed: data.Computed | None = None,
) -> Any:
    """Accuracy at every budget of the table, and below it the realized cost as a multiple of B."""
    alt, unit = altair_module(), replayed_unit(con)
    rows = rows_to_draw(con, "curves", computed, archives)
    shown = {row["archive"] for row in rows}
    curve = [row for row in data.rows(con, "budget_curve", computed) if row["archive"] in shown]
    curves = data.by_archive(curve)
    lines = rule_lines(rows, curve)
    ends = data.bank_ends(con)
    budgets = sorted({row["budget"] for row in rows})
    reached = [row["budget"] for row in lines]
    low, high = extent(lines, "cost_ratio")
    # Below the cheapest attempt advisory pays many times B: equal ratios are equal steps.
    ratio = alt.Scale(type="log", domain=[min(low, 0.9), max(high, 1.1)], nice=False)
    percent = alt.Scale(domain=percent_domain([*rows, *lines], "accuracy"), nice=False, zero=False)
    ticks = round_ticks(min(low, 0.9), max(high, 1.1))

    def draw(panel: Panel) -> Any:
        own = curves.get(panel.archive, [])
        points = in_words(panel.rows, unit)
        for row in points:
            row["is_bank_end"] = (row["archive"], row["budget"]) in ends
        x = budget_axis(budgets, reached, None, unit)
        below = budget_axis(budgets, reached, f"budget B, {unit.measures}", unit)
        title, axis = panel.y_title("accuracy, %"), alt.Axis(tickCount=5)
        accuracy = quantity("Y", "accuracy", scale=percent, title=title, axis=axis)
        title = panel.y_title("realized cost / B")
        axis = alt.Axis(values=ticks, labelOverlap="greedy", format="~g")
        cost = quantity("Y", "cost_ratio", scale=ratio, title=title, axis=axis)
        line_at_one = alt.Chart(inline([{"one": 1}])).mark_rule(strokeDash=[2, 3], color=INK)
        return alt.vconcat(
            alt.layer(
                *_band(own, x, percent),
                *_lines(points, own, x, accuracy, unit.many),
                width=panel.width,
                height=panel_height(panel.width, 190),
                title=panel.title,
            ),
            alt.layer(
                line_at_one.encode(y=quantity("Y", "one", scale=ratio)),
                *_lines(points, own, below, cost, unit.many),
                width=panel.width,
                height=panel_height(panel.width, 110),
            ),
            spacing=14,
        )

    words = (
        "Shaded: where the advisory curve may lie (95 %, all budgets together). Bars: 95 % "
        "interval at the budgets of the run. Dotted line: cost equal to B."
        + (" Hollow: over 5 % of replays ended because the bank ran out." if ends else "")
    )
    return in_panels(con, look, rows, draw, "Accuracy and realized cost over the budget", words)


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
    (colour,) = rule_colours(["advisory"])
    area = altair_module().Chart(inline(shade)).mark_area(opacity=0.16, color=colour)
    ends = {"y": quantity("Y", "band_low", scale=scale), "y2": altair_module().Y2("band_high")}
    return [area.encode(x=x, **ends)]


def _lines(points: Sequence[Row], curve: Sequence[Row], x: Any, y: Any, costs: str) -> list[Any]:
    """A line per rule, its points at the budgets of the run, and their intervals as bars.

    A point marked by `is_bank_end` is hollow.
    """
    alt, column = altair_module(), y["field"]
    rules = rule_order(points)
    marks = rule_marks(rules)
    tooltip = tips(
        ("archive", "archive"),
        ("rule", "rule"),
        ("shown_budget", "budget B"),
        ("shown_accuracy", "accuracy, %"),
        ("shown_cost", f"mean cost, {costs}"),
        ("shown_cost_ratio", "cost / B"),
    )
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
