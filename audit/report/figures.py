"""The figures of the report, drawn from the database by altair; every number is a table's."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import duckdb

from audit.errors import AuditError
from audit.report import data
from audit.report.data import Row
from audit.report.drawing import (
    BLUE,
    GREEN,
    GREY,
    INK,
    PURPLE,
    TOKEN_LABEL,
    TOTAL_WIDTH,
    VERMILLION,
    altair_module,
    frame,
    inline,
    save_figure,
    tips,
)
from audit.report.timeline import timeline
from audit.report.wording import budget_name, number, one_line, with_interval

__all__ = ["budget_curves", "cost_accuracy", "length_strata", "save_figure", "timeline"]

RULES = ("strict", "advisory")
RULE_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, "#E69F00", "#56B4E9")
RULE_SHAPES = ("square", "circle", "triangle-up", "diamond", "cross", "triangle-down")
STRATA = ("shorter", "longer")


def _columns(panels: int) -> int:
    """How many panels stand in one row."""
    return panels if panels <= 3 else 2 if panels == 4 else 3 if panels <= 6 else 4


def _panel_width(columns: int, total: int) -> int:
    return max(120, min(480, total // columns - 62))


def _panel_title(name: str, width: int) -> Any:
    alt = altair_module()
    return alt.Title(
        one_line(name),
        anchor="start",
        fontSize=12.5,
        fontWeight=600,
        offset=8,
        limit=width + 40,
    )


def _budget_axis(budgets: Sequence[int], title: str | None) -> Any:
    alt = altair_module()
    return alt.X(
        field="budget",
        type="quantitative",
        title=title,
        scale=alt.Scale(
            type="log", base=2, domain=[min(budgets) / 1.15, max(budgets) * 1.15], nice=False
        ),
        axis=alt.Axis(
            values=list(budgets), labelExpr=TOKEN_LABEL, grid=False, labelOverlap="greedy"
        ),
    )


def rule_order(rows: Iterable[Row]) -> list[str]:
    """The rules present: strict, advisory, then a user's own by name."""
    found = {row["rule"] for row in rows}
    return [*(rule for rule in RULES if rule in found), *sorted(found - set(RULES))]


def _cycle(values: Sequence[str], count: int) -> list[str]:
    return [values[index % len(values)] for index in range(count)]


def _rule_marks(rules: Sequence[str]) -> dict[str, Any]:
    alt = altair_module()
    legend = alt.Legend(orient="top", title="stopping rule:")
    domain = list(rules)
    return {
        "color": alt.Color(
            field="rule",
            type="nominal",
            scale=alt.Scale(domain=domain, range=_cycle(RULE_COLOURS, len(domain))),
            legend=legend,
        ),
        "shape": alt.Shape(
            field="rule",
            type="nominal",
            scale=alt.Scale(domain=domain, range=_cycle(RULE_SHAPES, len(domain))),
            legend=legend,
        ),
    }


def _extent(rows: Iterable[Row], column: str) -> tuple[float, float]:
    found = [
        row[name]
        for row in rows
        for name in (column, f"{column}_low", f"{column}_high")
        if row.get(name) is not None
    ]
    return (min(found), max(found)) if found else (0.0, 1.0)


def _percent_domain(rows: Sequence[Row], column: str) -> list[float]:
    low, high = _extent(rows, column)
    low, high = math.floor(low / 10) * 10, math.ceil(high / 10) * 10
    return [max(0, low), min(100, high)] if high > low else [max(0, low - 10), min(100, high + 10)]


def _curve(rows: Sequence[Row], column: str, x: Any, y: Any, tooltip: list[Any]) -> list[Any]:
    """Line, points and interval band of each rule, as layers."""
    alt = altair_module()
    rules = rule_order(rows)
    marks = _rule_marks(rules)
    rows = sorted(rows, key=lambda row: rules.index(row["rule"]))
    base = alt.Chart(inline(rows)).encode(x=x, y=y, tooltip=tooltip)
    banded = [row for row in rows if row[f"{column}_low"] is not None]
    band = alt.Chart(inline(banded)).encode(
        x=x,
        y=alt.Y(field=f"{column}_low", type="quantitative"),
        y2=alt.Y2(field=f"{column}_high"),
        color=marks["color"],
    )
    # A band over a single budget has no width: draw it as an error bar.
    single = len({row["budget"] for row in rows}) == 1
    interval = (
        band.mark_rule(strokeWidth=2, opacity=0.5)
        if single
        else band.mark_area(opacity=0.16, interpolate="linear")
    )
    return [
        interval,
        base.mark_line(strokeWidth=2).encode(color=marks["color"]),
        base.mark_point(filled=True, size=70, opacity=1).encode(**marks),
    ]


def budget_curves(
    con: duckdb.DuckDBPyConnection,
    *,
    columns: int | None = None,
    total_width: int = TOTAL_WIDTH,
    known: data.Known | None = None,
) -> Any:
    """Accuracy over B for both rules, and below it the realized cost as a multiple of B."""
    alt = altair_module()
    rows = _some(data.rows(con, "curves", known), "curves")
    panels = data.group(rows, lambda row: row["archive"])
    columns = columns or _columns(len(panels))
    width = _panel_width(columns, total_width)
    budgets = sorted({row["budget"] for row in rows})
    accuracy = alt.Scale(domain=_percent_domain(rows, "accuracy"), nice=False, zero=False)
    cost = alt.Scale(domain=[0, 1.08 * max(1.0, _extent(rows, "cost_ratio")[1])], nice=False)
    pairs = []
    for index, (archive, found) in enumerate(panels.items()):
        first = index % columns == 0
        shown = [
            row
            | {
                "shown_budget": budget_name(row["budget"]),
                "shown_accuracy": with_interval(row, "accuracy"),
                "shown_ratio": with_interval(row, "cost_ratio"),
                "shown_cost": number(row["cost"], 0),
            }
            for row in found
        ]
        tooltip = tips(
            ("archive", "archive"),
            ("rule", "rule"),
            ("shown_budget", "budget B"),
            ("shown_accuracy", "accuracy, %"),
            ("shown_cost", "mean completion tokens"),
            ("shown_ratio", "cost / B"),
        )
        top = _curve(
            shown,
            "accuracy",
            _budget_axis(budgets, None),
            alt.Y(
                field="accuracy",
                type="quantitative",
                scale=accuracy,
                title="accuracy, %" if first else None,
                axis=alt.Axis(tickCount=5),
            ),
            tooltip,
        )
        bottom = _curve(
            shown,
            "cost_ratio",
            _budget_axis(budgets, "budget B, completion tokens"),
            alt.Y(
                field="cost_ratio",
                type="quantitative",
                scale=cost,
                title="realized cost / B" if first else None,
                axis=alt.Axis(tickCount=4),
            ),
            tooltip,
        )
        one = (
            alt.Chart(inline([{"one": 1}]))
            .mark_rule(strokeDash=[2, 3], color=INK)
            .encode(y=alt.Y(field="one", type="quantitative"))
        )
        pairs.append(
            alt.vconcat(
                alt.layer(*top, width=width, height=190, title=_panel_title(archive, width)),
                alt.layer(one, *bottom, width=width, height=110),
                spacing=14,
            )
        )
    look = frame(
        con,
        "Accuracy and realized cost over the budget",
        "Bands: 95 % problem-bootstrap interval of each curve. Dotted line: cost equal to B.",
        total_width,
    )
    return alt.concat(*pairs, columns=columns, **look)


def length_strata(
    con: duckdb.DuckDBPyConnection,
    *,
    columns: int | None = None,
    total_width: int = TOTAL_WIDTH,
    known: data.Known | None = None,
) -> Any:
    """The paired accuracy change in each archive's shorter and longer half, with intervals."""
    alt = altair_module()
    rows = _some(data.rows(con, "length_strata", known), "length_strata")
    panels = data.group(rows, lambda row: row["archive"])
    columns = columns or _columns(len(panels))
    width = _panel_width(columns, total_width)
    low, high = _extent(rows, "delta")
    scale = alt.Scale(domain=[min(0, low), max(0, high)], nice=True)
    budgets = [budget_name(budget) for budget in sorted({row["budget"] for row in rows})]
    legend = alt.Legend(orient="top", title="problems by median length:")
    charts = []
    for index, (archive, found) in enumerate(panels.items()):
        shown = [
            row
            | {
                "shown_budget": budget_name(row["budget"]),
                "shown_delta": with_interval(row, "delta"),
                "shown_extra": number(row["extra_cost"], 0),
            }
            for row in found
        ]
        base = alt.Chart(inline(shown)).encode(
            x=alt.X(
                field="shown_budget",
                type="ordinal",
                sort=budgets,
                title="budget B, completion tokens",
                axis=alt.Axis(labelAngle=0, grid=False),
                scale=alt.Scale(domain=budgets),
            ),
            xOffset=alt.XOffset(
                field="stratum",
                type="nominal",
                sort=list(STRATA),
                scale=alt.Scale(domain=list(STRATA), paddingOuter=0.9),
            ),
            color=alt.Color(
                field="stratum",
                type="nominal",
                scale=alt.Scale(domain=list(STRATA), range=[GREEN, PURPLE]),
                legend=legend,
            ),
            tooltip=tips(
                ("archive", "archive"),
                ("stratum", "half"),
                ("problems", "problems"),
                ("shown_budget", "budget B"),
                ("shown_delta", "change, points"),
                ("shown_extra", "extra tokens"),
            ),
        )
        points = base.mark_point(filled=True, size=90, opacity=1).encode(
            y=alt.Y(
                field="delta",
                type="quantitative",
                scale=scale,
                title="accuracy change, points" if index % columns == 0 else None,
                axis=alt.Axis(tickCount=6),
            ),
            shape=alt.Shape(
                field="stratum",
                type="nominal",
                scale=alt.Scale(domain=list(STRATA), range=["triangle-up", "diamond"]),
                legend=legend,
            ),
        )
        bars = base.mark_rule(strokeWidth=2.5).encode(
            y=alt.Y(field="delta_low", type="quantitative", scale=scale),
            y2=alt.Y2(field="delta_high"),
        )
        zero = (
            alt.Chart(inline([{"zero": 0}]))
            .mark_rule(strokeDash=[2, 3], color=INK)
            .encode(y=alt.Y(field="zero", type="quantitative", scale=scale))
        )
        charts.append(
            alt.layer(
                zero, bars, points, width=width, height=230, title=_panel_title(archive, width)
            )
        )
    look = frame(
        con,
        "Accuracy change in the shorter and the longer half",
        "Advisory minus strict at the same B, with 95 % problem-bootstrap intervals.",
        total_width,
    )
    return alt.concat(*charts, columns=columns, **look)


def cost_accuracy(
    con: duckdb.DuckDBPyConnection,
    *,
    columns: int | None = None,
    total_width: int = TOTAL_WIDTH,
    known: data.Known | None = None,
) -> Any:
    """Accuracy against realized mean cost, with strict interpolated at each advisory cost."""
    alt = altair_module()
    rows = _some(data.rows(con, "curves", known), "curves")
    between = data.group(data.rows(con, "interpolation", known), lambda row: row["archive"])
    panels = data.group(rows, lambda row: row["archive"])
    columns = columns or _columns(len(panels))
    width = _panel_width(columns, total_width)
    low, high = _extent([{"accuracy": row["accuracy"]} for row in rows], "accuracy")
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
        marks = _rule_marks(rule_order(rows))
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
            alt.layer(*layers, width=width, height=250, title=_panel_title(archive, width))
        )
    look = frame(
        con,
        "Accuracy against realized cost",
        "Labels: the budget B. Diamonds: strict on the straight line between its two points around "
        "the advisory mean cost.",
        total_width,
    )
    return alt.concat(*charts, columns=columns, **look)


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


def _some(rows: list[Row], name: str) -> list[Row]:
    if not rows:
        raise AuditError(
            f"no figure: table {name} is empty; replay with at least one random order (--orders 1)"
        )
    return rows
