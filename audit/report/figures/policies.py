"""Policies: accuracy against realized cost, policy by shape, rule by fill, the frontier dotted."""

from collections.abc import Sequence
from typing import Any

import duckdb

from audit.output.headings import replayed_unit
from audit.report import data
from audit.report.data import Row
from audit.report.figures.drawing import (
    GREY,
    PLAIN,
    Look,
    altair_module,
    axis_labels,
    category,
    inline,
    quantity,
    tips,
)
from audit.report.figures.panels import (
    RULE_COLOURS,
    RULE_SHAPES,
    Panel,
    cycle,
    extent,
    in_panels,
    in_words,
    panel_height,
    round_ticks,
    rows_to_draw,
)


def policies(
    con: duckdb.DuckDBPyConnection,
    look: Look = PLAIN,
    *,
    archives: Sequence[str] | None = None,
    computed: data.Computed | None = None,
) -> Any:
    """Every policy under every rule at every budget of the run, one panel per archive."""
    alt, unit = altair_module(), replayed_unit(con)
    rows = rows_to_draw(con, "policies", computed, archives)
    names = sorted({row["policy"] for row in rows}, key=lambda name: (name != "none", name))
    low, high = extent([{"accuracy": row["accuracy"]} for row in rows], "accuracy")
    room = max(2.0, (high - low) * 0.08)
    down = alt.Scale(domain=[max(0, low - room), min(100, high + room)], nice=True, zero=False)
    costs = [row["cost"] for row in rows]
    reach = [min(costs) / 1.1, max(costs) * 1.1]
    axis = alt.Axis(
        labelExpr=axis_labels(unit), values=round_ticks(*reach), labelOverlap="greedy", grid=False
    )
    across = alt.Scale(type="log", domain=reach, nice=False)
    x = quantity("X", "cost", scale=across, title=f"mean cost, {unit.many}", axis=axis)
    legend = alt.Legend(orient="top", title=None, columns=max(1, look.width // 150))
    marks = {
        "color": category("Color", "policy", names, cycle(RULE_COLOURS, len(names)), legend=legend),
        "shape": category("Shape", "policy", names, cycle(RULE_SHAPES, len(names)), legend=legend),
        "stroke": category("Stroke", "policy", names, cycle(RULE_COLOURS, len(names)), legend=None),
    }

    def draw(panel: Panel) -> Any:
        title = panel.y_title("accuracy, %")
        y = quantity("Y", "accuracy", scale=down, title=title, axis=alt.Axis(tickCount=6))
        return alt.layer(
            *_layers(in_words(panel.rows, unit), x, y, marks, panel.width, unit.many),
            width=panel.width,
            height=panel_height(panel.width, 230),
            title=panel.title,
        )

    words = (
        "Filled: strict. Hollow: other rules. Lines join the budgets; dotted: the best accuracy at "
        "the same cost."
    )
    return in_panels(con, look, rows, draw, "Controllers that stop by themselves", words)


def _layers(
    rows: list[Row], x: Any, y: Any, marks: dict[str, Any], width: int, costs: str
) -> list[Any]:
    """The frontier, a line per policy and rule, and a point per budget."""
    alt = altair_module()
    for row in rows:
        row["line"] = f"{row['policy']} {row['rule']}"
    base = alt.Chart(inline(rows)).encode(x=x, y=y)
    points = base.encode(
        shape=marks["shape"],
        tooltip=tips(
            ("policy", "policy"),
            ("rule", "rule"),
            ("shown_budget", "budget B"),
            ("shown_accuracy", "accuracy, %"),
            ("shown_cost", f"mean cost, {costs}"),
            ("shown_delta", "against none, points"),
        ),
    )
    # Small marks keep the policies of one budget apart in a narrow panel.
    size = 55 if width > 300 else 22
    return [
        alt.Chart(inline(_frontier(rows)))
        .mark_line(interpolate="step-after", strokeDash=[2, 3], color=GREY, strokeWidth=1.5)
        .encode(x=x, y=y),
        base.mark_line(strokeWidth=1, opacity=0.4).encode(
            color=marks["color"],
            detail=alt.Detail(field="line", type="nominal"),
            order=alt.Order(field="budget", type="quantitative"),
        ),
        points.transform_filter("datum.rule != 'strict'")
        .mark_point(filled=True, fill="white", size=size, opacity=1)
        .encode(stroke=marks["stroke"]),
        points.transform_filter("datum.rule == 'strict'")
        .mark_point(filled=True, size=size, opacity=1)
        .encode(color=marks["color"]),
    ]


def _frontier(rows: Sequence[Row]) -> list[Row]:
    """The points that no cheaper point reaches, by cost."""
    best: list[Row] = []
    for row in sorted(rows, key=lambda row: (row["cost"], -row["accuracy"])):
        if not best or row["accuracy"] > best[-1]["accuracy"]:
            best.append({"cost": row["cost"], "accuracy": row["accuracy"]})
    return best
