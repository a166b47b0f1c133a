"""Policies: accuracy against realized cost, policy by shape, rule by fill, the frontier dotted."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from audit.report.data import Row
from audit.report.figures.drawing import GREY, axis_labels, category, inline, quantity
from audit.report.figures.panels import (
    RULE_COLOURS,
    RULE_SHAPES,
    Panel,
    PanelFigure,
    Sheet,
    cycle,
    percent_around,
    round_ticks,
)


@partial(PanelFigure, "policies", "Controllers that stop by themselves")
def policies(sheet: Sheet) -> tuple[str, Callable[[Panel], Any]]:
    """Every policy under every rule at every budget of the run, one panel per archive."""
    alt, unit = sheet.alt, sheet.unit
    names = sorted({row["policy"] for row in sheet.rows}, key=lambda name: (name != "none", name))
    down = alt.Scale(domain=percent_around(sheet.rows, 0.08), nice=True, zero=False)
    costs = [row["cost"] for row in sheet.rows]
    reach = [min(costs) / 1.1, max(costs) * 1.1]
    axis = alt.Axis(
        labelExpr=axis_labels(unit), values=round_ticks(*reach), labelOverlap="greedy", grid=False
    )
    across = alt.Scale(type="log", domain=reach, nice=False)
    x = quantity("X", "cost", scale=across, title=f"mean cost, {unit.many}", axis=axis)
    legend = alt.Legend(orient="top", title=None, columns=max(1, sheet.look.width // 150))
    colours, shapes = (cycle(values, len(names)) for values in (RULE_COLOURS, RULE_SHAPES))
    color = category("Color", "policy", names, colours, legend=legend)
    shape = category("Shape", "policy", names, shapes, legend=legend)
    stroke = category("Stroke", "policy", names, colours, legend=None)
    tooltip = sheet.tips(
        "policy", "rule", "budget", "accuracy", "cost", delta="against none, points"
    )

    def draw(panel: Panel) -> Any:
        y = panel.y("accuracy", "accuracy, %", down, tickCount=6)
        rows = [row | {"line": f"{row['policy']} {row['rule']}"} for row in panel.rows]
        base = alt.Chart(inline(rows)).encode(x=x, y=y)
        points = base.encode(shape=shape, tooltip=tooltip)
        # Small marks keep the policies of one budget apart in a narrow panel.
        size = 55 if panel.width > 300 else 22
        return panel.layer(
            alt.Chart(inline(_frontier(rows)))
            .mark_line(interpolate="step-after", strokeDash=[2, 3], color=GREY, strokeWidth=1.5)
            .encode(x=x, y=y),
            base.mark_line(strokeWidth=1, opacity=0.4).encode(
                color=color,
                detail=alt.Detail(field="line", type="nominal"),
                order=alt.Order(field="budget", type="quantitative"),
            ),
            points.transform_filter("datum.rule != 'strict'")
            .mark_point(filled=True, fill="white", size=size, opacity=1)
            .encode(stroke=stroke),
            points.transform_filter("datum.rule == 'strict'")
            .mark_point(filled=True, size=size, opacity=1)
            .encode(color=color),
            height=230,
        )

    words = (
        "Filled: strict. Hollow: other rules. Lines join the budgets; dotted: the best accuracy at "
        "the same cost."
    )
    return words, draw


def _frontier(rows: Sequence[Row]) -> list[Row]:
    """The points that no cheaper point reaches, by cost."""
    best: list[Row] = []
    for row in sorted(rows, key=lambda row: (row["cost"], -row["accuracy"])):
        if not best or row["accuracy"] > best[-1]["accuracy"]:
            best.append({"cost": row["cost"], "accuracy": row["accuracy"]})
    return best
