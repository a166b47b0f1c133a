"""Accuracy against realized cost, and strict at each advisory point's cost."""

from collections.abc import Sequence
from typing import Any

import duckdb

from audit import engine
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
    panel_height,
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
    """Accuracy against realized mean cost, with strict at the cost of each advisory point."""
    alt = altair_module()
    rows = some(con, "curves", known, archives)
    matched = data.group(_rows(con, "matched_cost", known), lambda row: row["archive"])
    curves = data.group(_rows(con, "budget_curve", known), lambda row: row["archive"])
    panels = data.group(rows, lambda row: row["archive"])
    columns = look.columns or columns_for(len(panels), look.width)
    width = panel_width(columns, look.width)
    low, high = extent([{"accuracy": row["accuracy"]} for row in rows], "accuracy")
    room = max(2.0, (high - low) * 0.12)
    scale = alt.Scale(domain=[max(0, low - room), min(100, high + room)], nice=True, zero=False)
    top = 1.06 * max(row["cost"] for row in rows)
    across = alt.Scale(domain=[0, top], nice=False, clamp=True)
    charts = []
    for index, (archive, found) in enumerate(panels.items()):
        labelled = {
            rule: _labels([row for row in found if row["rule"] == rule], width, top)
            for rule in rule_order(rows)
        }
        shown = [
            row
            | {
                "shown_budget": budget_name(row["budget"]),
                "label": budget_name(row["budget"])
                if row["budget"] in labelled[row["rule"]]
                else "",
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
        same = matched.get(archive, [])
        # Labels stand on the outer side of whichever curve is the upper one.
        below = sum(row["delta"] for row in same) < 0
        line = inline(_line(curves.get(archive, []), shown, top))
        sides = (
            ("strict", -12 if below else 14, "right" if below else "left", -3 if below else 3),
            ("advisory", 14 if below else -12, "left" if below else "right", 3 if below else -3),
        )
        layers = [
            alt.Chart(line)
            .mark_line(strokeWidth=1.6, opacity=0.75)
            .encode(
                x=x,
                y=y,
                color=marks["color"],
                order=alt.Order(field="budget", type="quantitative"),
            ),
            *_same_cost(same, scale, across),
            base.mark_point(filled=True, size=80, opacity=1).encode(**marks),
            *(
                base.transform_filter(alt.FieldEqualPredicate(field="rule", equal=rule))
                .mark_text(fontSize=11, dy=shift, align=align, dx=aside)
                .encode(
                    text=alt.Text(field="label", type="nominal"),
                    color=marks["color"],
                )
                for rule, shift, align, aside in sides
            ),
        ]
        charts.append(
            alt.layer(
                *layers,
                width=width,
                height=panel_height(width, 250),
                title=panel_title(archive, width, list(panels)),
            )
        )
    whole = frame(
        con,
        "Accuracy against realized cost",
        "Labels: the budget B. Diamonds: strict at the budget that costs what advisory costs.",
        look,
    )
    return alt.concat(*charts, columns=columns, **whole)


def _rows(con: duckdb.DuckDBPyConnection, name: str, known: data.Known | None) -> list[Row]:
    """The rows that have a label, of a table that the engine may not have."""
    if name not in engine.table_names():
        return []
    return [row for row in data.rows(con, name, known) if row["delta"] is not None]


def _line(curve: Sequence[Row], points: Sequence[Row], top: float) -> list[Row]:
    """Both rules at every budget of the curve that the picture holds, or the points alone."""
    if not curve:
        return list(points)
    first = min(point["budget"] for point in points)
    return [
        {
            "rule": rule,
            "budget": row["budget"],
            "cost": row[f"{rule}_cost"],
            "accuracy": row[f"{rule}_accuracy"],
        }
        for row in curve
        for rule in ("strict", "advisory")
        if row[f"{rule}_cost"] <= top and row["budget"] >= first
    ]


def _same_cost(matched: Sequence[Row], scale: Any, across: Any) -> list[Any]:
    """Strict at the budget that costs what an advisory point costs, and the step between them."""
    alt = altair_module()
    if not matched:
        return []
    steps = [
        {
            "cost": row["advisory_cost"],
            "advisory": row["advisory_accuracy"],
            "same_cost": row["strict_accuracy"],
            "shown_budget": budget_name(row["advisory_budget"]),
            "shown_strict": f"{row['strict_budget']:,}",
            "shown_accuracy": number(row["strict_accuracy"]),
            "shown_delta": with_interval(row, "delta"),
        }
        for row in matched
    ]
    step = alt.Chart(inline(steps)).encode(
        x=alt.X(field="cost", type="quantitative", scale=across),
        y=alt.Y(field="same_cost", type="quantitative", scale=scale),
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


def _labels(points: Sequence[Row], width: float, top: float) -> set[int]:
    """The budgets whose labels fit beside each other, from the dearest down."""
    kept: list[float] = []
    budgets = set()
    for row in sorted(points, key=lambda row: -row["cost"]):
        place = row["cost"] / top * width
        if all(abs(place - other) > 7 * len(budget_name(row["budget"])) + 6 for other in kept):
            kept.append(place)
            budgets.add(row["budget"])
    return budgets
