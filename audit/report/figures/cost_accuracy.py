"""Accuracy against realized cost, and strict at each advisory point's cost."""

from collections.abc import Sequence
from typing import Any

import duckdb

from audit.report import data
from audit.report.data import Row
from audit.report.figures.drawing import (
    GREY,
    INK,
    PLAIN,
    TOKEN_LABEL,
    Look,
    altair_module,
    frame,
    inline,
    tips,
)
from audit.report.figures.panels import (
    columns_for,
    extent,
    panel_title,
    panel_width,
    rule_marks,
    rule_order,
    some,
)
from audit.report.wording import budget_name, number, with_interval


def cost_accuracy(
    con: duckdb.DuckDBPyConnection,
    look: Look = PLAIN,
    *,
    archives: Sequence[str] | None = None,
    known: data.Known | None = None,
) -> Any:
    """Accuracy against realized mean cost, with strict interpolated at each advisory cost."""
    alt = altair_module()
    rows = some(con, "curves", known, archives)
    between = data.group(data.rows(con, "interpolation", known), lambda row: row["archive"])
    panels = data.group(rows, lambda row: row["archive"])
    columns = look.columns or columns_for(len(panels), look.width)
    width = panel_width(columns, look.width)
    low, high = extent([{"accuracy": row["accuracy"]} for row in rows], "accuracy")
    room = max(2.0, (high - low) * 0.12)
    scale = alt.Scale(domain=[max(0, low - room), min(100, high + room)], nice=True, zero=False)
    # A linear axis on purpose: there the line between two strict points is the interpolation.
    across = alt.Scale(domain=[0, 1.06 * max(row["cost"] for row in rows)], nice=False)
    charts = []
    for index, (archive, found) in enumerate(panels.items()):
        shown = [
            row
            | {
                "shown_budget": budget_name(row["budget"]),
                "shown_accuracy": with_interval(row, "accuracy"),
                "shown_cost": number(row["cost"], 0),
            }
            for row in found
        ]
        x = alt.X(
            field="cost",
            type="quantitative",
            scale=across,
            title="mean completion tokens",
            axis=alt.Axis(labelExpr=TOKEN_LABEL, tickCount=5, labelOverlap="greedy"),
        )
        y = alt.Y(
            field="accuracy",
            type="quantitative",
            scale=scale,
            title="accuracy, %" if index % columns == 0 else None,
            axis=alt.Axis(tickCount=6),
        )
        base = alt.Chart(inline(shown)).encode(
            x=x,
            y=y,
            tooltip=tips(
                ("archive", "archive"),
                ("rule", "rule"),
                ("shown_budget", "budget B"),
                ("shown_cost", "mean completion tokens"),
                ("shown_accuracy", "accuracy, %"),
            ),
        )
        marks = rule_marks(rule_order(rows))
        chords = between.get(archive, [])
        # Labels stand on the outer side of whichever curve is the upper one.
        below = sum(row["delta"] for row in chords) < 0
        sides = (
            ("strict", -12 if below else 14, "right" if below else "left", -3 if below else 3),
            ("advisory", 14 if below else -12, "left" if below else "right", 3 if below else -3),
        )
        layers = [
            base.mark_line(strokeWidth=1.6, opacity=0.75).encode(
                color=marks["color"], order=alt.Order(field="budget", type="quantitative")
            ),
            *_chords(shown, chords, scale, across),
            base.mark_point(filled=True, size=80, opacity=1).encode(**marks),
            *(
                base.transform_filter(alt.FieldEqualPredicate(field="rule", equal=rule))
                .mark_text(fontSize=11, dy=shift, align=align, dx=aside)
                .encode(
                    text=alt.Text(field="shown_budget", type="nominal"),
                    color=marks["color"],
                )
                for rule, shift, align, aside in sides
            ),
        ]
        charts.append(
            alt.layer(
                *layers, width=width, height=250, title=panel_title(archive, width, list(panels))
            )
        )
    whole = frame(
        con,
        "Accuracy against realized cost",
        "Labels: the budget B. Diamonds: strict on the straight line between its two points around "
        "the advisory mean cost.",
        look,
    )
    return alt.concat(*charts, columns=columns, **whole)


def _chords(curve: Sequence[Row], between: Sequence[Row], scale: Any, across: Any) -> list[Any]:
    """The chord of strict at each advisory point, and the step from it to the advisory point."""
    alt = altair_module()
    if not between:
        return []
    strict = {row["budget"]: row for row in curve if row["rule"] == "strict"}
    ends = [
        {
            "chord": index,
            "cost": strict[row[end]]["cost"],
            "accuracy": strict[row[end]]["accuracy"],
        }
        for index, row in enumerate(between)
        for end in ("left_budget", "right_budget")
    ]
    steps = [
        {
            "cost": row["advisory_cost"],
            "advisory": row["advisory_accuracy"],
            "interpolated": row["interpolated_accuracy"],
            "shown_budget": budget_name(row["advisory_budget"]),
            "shown_ends": f"{budget_name(row['left_budget'])} and "
            f"{budget_name(row['right_budget'])}",
            "shown_interpolated": number(row["interpolated_accuracy"]),
            "shown_delta": with_interval(row, "delta"),
        }
        for row in between
    ]
    x = alt.X(field="cost", type="quantitative", scale=across)
    step = alt.Chart(inline(steps)).encode(
        x=x,
        y=alt.Y(field="interpolated", type="quantitative", scale=scale),
        tooltip=tips(
            ("shown_budget", "advisory budget"),
            ("shown_ends", "between strict"),
            ("shown_interpolated", "strict, interpolated, %"),
            ("shown_delta", "advisory minus that, points"),
        ),
    )
    return [
        alt.Chart(inline(ends))
        .mark_line(strokeDash=[5, 3], strokeWidth=2.2, color=GREY)
        .encode(
            x=x,
            y=alt.Y(field="accuracy", type="quantitative", scale=scale),
            detail=alt.Detail(field="chord", type="nominal"),
        ),
        step.mark_rule(strokeDash=[1, 2], strokeWidth=1.5, color=INK).encode(
            y2=alt.Y2(field="advisory")
        ),
        step.mark_point(
            shape="diamond", size=70, filled=True, fill="white", stroke=GREY, opacity=1
        ),
    ]
