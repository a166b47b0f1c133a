"""Policies: accuracy against realized cost, policy by shape, rule by fill, the frontier dotted."""

from collections.abc import Sequence
from typing import Any

import duckdb

from audit.output.display import budget_name
from audit.output.headings import replayed_unit
from audit.report import data
from audit.report.data import Row
from audit.report.figures.drawing import (
    GREY,
    PLAIN,
    Look,
    altair_module,
    axis_labels,
    frame,
    inline,
    tips,
)
from audit.report.figures.panels import (
    RULE_COLOURS,
    RULE_SHAPES,
    columns_for,
    cycle,
    extent,
    panel_height,
    panel_title,
    panel_width,
    some,
)
from audit.report.wording import number, with_interval
from audit.units import write_digits


def policies(
    con: duckdb.DuckDBPyConnection,
    look: Look = PLAIN,
    *,
    archives: Sequence[str] | None = None,
    known: data.Known | None = None,
) -> Any:
    """Every policy under both rules at every budget of the run, one panel per archive."""
    alt, unit = altair_module(), replayed_unit(con)
    rows = some(con, "policies", known, archives)
    panels = data.group(rows, lambda row: row["archive"])
    columns = look.columns or columns_for(len(panels), look.width)
    width = panel_width(columns, look.width)
    names = sorted({row["policy"] for row in rows}, key=lambda name: (name != "none", name))
    low, high = extent([{"accuracy": row["accuracy"]} for row in rows], "accuracy")
    room = max(2.0, (high - low) * 0.08)
    down = alt.Scale(domain=[max(0, low - room), min(100, high + room)], nice=True, zero=False)
    costs = [row["cost"] for row in rows]
    across = alt.Scale(type="log", domain=[min(costs) / 1.1, max(costs) * 1.1], nice=False)
    ticks = [
        digit * 10**power
        for power in range(-9, 16)
        for digit in (1, 2, 5)
        if min(costs) / 1.1 <= digit * 10**power <= max(costs) * 1.1
    ]
    # Small marks keep the policies of one budget apart in a narrow panel.
    size = 55 if width > 300 else 22
    legend = alt.Legend(orient="top", title=None, columns=max(1, look.width // 150))
    charts = []
    for index, (archive, found) in enumerate(panels.items()):
        shown = [
            row
            | {
                "line": f"{row['policy']} {row['rule']}",
                "shown_budget": budget_name(row["budget"], unit),
                "shown_accuracy": number(row["accuracy"]),
                "shown_cost": write_digits(row["cost"], unit),
                "shown_delta": with_interval(row, "delta"),
            }
            for row in found
        ]
        x = alt.X(
            field="cost",
            type="quantitative",
            scale=across,
            title=f"mean cost, {unit.many}",
            axis=alt.Axis(
                labelExpr=axis_labels(unit), values=ticks, labelOverlap="greedy", grid=False
            ),
        )
        y = alt.Y(
            field="accuracy",
            type="quantitative",
            scale=down,
            title="accuracy, %" if index % columns == 0 else None,
            axis=alt.Axis(tickCount=6),
        )
        colour = alt.Color(
            field="policy",
            type="nominal",
            scale=alt.Scale(domain=names, range=cycle(RULE_COLOURS, len(names))),
            legend=legend,
        )
        base = alt.Chart(inline(shown)).encode(x=x, y=y)
        frontier = alt.Chart(inline(_frontier(shown))).encode(x=x, y=y)
        points = base.encode(
            shape=alt.Shape(
                field="policy",
                type="nominal",
                scale=alt.Scale(domain=names, range=cycle(RULE_SHAPES, len(names))),
                legend=legend,
            ),
            tooltip=tips(
                ("policy", "policy"),
                ("rule", "rule"),
                ("shown_budget", "budget B"),
                ("shown_accuracy", "accuracy, %"),
                ("shown_cost", f"mean cost, {unit.many}"),
                ("shown_delta", "against none, points"),
            ),
        )
        strict = points.transform_filter(alt.FieldEqualPredicate(field="rule", equal="strict"))
        other = points.transform_filter("datum.rule != 'strict'")
        charts.append(
            alt.layer(
                frontier.mark_line(
                    interpolate="step-after", strokeDash=[2, 3], color=GREY, strokeWidth=1.5
                ),
                base.mark_line(strokeWidth=1, opacity=0.4).encode(
                    color=colour,
                    detail=alt.Detail(field="line", type="nominal"),
                    order=alt.Order(field="budget", type="quantitative"),
                ),
                other.mark_point(filled=True, fill="white", size=size, opacity=1).encode(
                    stroke=alt.Stroke(
                        field="policy",
                        type="nominal",
                        scale=alt.Scale(domain=names, range=cycle(RULE_COLOURS, len(names))),
                        legend=None,
                    )
                ),
                strict.mark_point(filled=True, size=size, opacity=1).encode(color=colour),
                width=width,
                height=panel_height(width, 230),
                title=panel_title(archive, width, list(panels)),
            )
        )
    whole = frame(
        con,
        "Controllers that stop by themselves",
        "Filled: strict. Hollow: other rules. Lines join the budgets; dotted: the best accuracy at "
        "the same cost.",
        look,
    )
    return alt.concat(*charts, columns=columns, **whole)


def _frontier(rows: Sequence[Row]) -> list[Row]:
    """The points that no cheaper point reaches, by cost."""
    best: list[Row] = []
    for row in sorted(rows, key=lambda row: (row["cost"], -row["accuracy"])):
        if not best or row["accuracy"] > best[-1]["accuracy"]:
            best.append({"cost": row["cost"], "accuracy": row["accuracy"]})
    return best
