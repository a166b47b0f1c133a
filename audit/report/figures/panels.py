"""What figures with one panel per archive share."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import duckdb

from audit.errors import AuditError
from audit.report import data
from audit.report.data import Row
from audit.report.figures.drawing import (
    BLUE,
    GREEN,
    PURPLE,
    VERMILLION,
    altair_module,
    axis_labels,
    inline,
)
from audit.report.wording import one_line
from audit.text import shortened
from audit.units import Unit

# In the order of their pools, the smallest first.
RULES = ("strict", "step_lost", "attempt_lost", "step", "advisory")
RULE_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, "#E69F00", "#56B4E9")
RULE_SHAPES = ("square", "circle", "triangle-up", "diamond", "cross", "triangle-down")


def columns_for(panels: int, width: int) -> int:
    """How many panels stand in one row: as many as leave each of them readable."""
    wanted = panels if panels <= 3 else 2 if panels == 4 else 3 if panels <= 6 else 4
    return max(1, min(wanted, width // 200))


def panel_width(columns: int, total: int) -> int:
    """The width of one panel of a row."""
    return max(90, min(620, total // columns - 62))


def panel_height(width: int, most: int) -> int:
    """The height of a panel: a narrow one is lower."""
    return max(min(110, most), min(most, round(0.72 * width)))


def panel_title(name: str, width: int, names: Sequence[str] = ()) -> Any:
    """An archive's name over its panel, cut in the middle where it is too long."""
    alt = altair_module()
    return alt.Title(
        shortened(one_line(name, 400), max(12, int(width / 6.6)), names),
        anchor="start",
        fontSize=12.5,
        fontWeight=600,
        offset=8,
        limit=width + 40,
    )


def budget_axis(budgets: Sequence[float], title: str | None, unit: Unit) -> Any:
    """A logarithmic axis with a tick at each budget of the run."""
    alt = altair_module()
    return alt.X(
        field="budget",
        type="quantitative",
        title=title,
        scale=alt.Scale(
            type="log", base=2, domain=[min(budgets) / 1.15, max(budgets) * 1.15], nice=False
        ),
        axis=alt.Axis(
            values=list(budgets), labelExpr=axis_labels(unit), grid=False, labelOverlap="greedy"
        ),
    )


def rule_order(rows: Iterable[Row]) -> list[str]:
    """The rules present: the built-in ones, then a user's own by name."""
    found = {row["rule"] for row in rows}
    return [*(rule for rule in RULES if rule in found), *sorted(found - set(RULES))]


def cycle(values: Sequence[str], count: int) -> list[str]:
    """So many values, from the start again where there are too few."""
    return [values[index % len(values)] for index in range(count)]


def rule_colours(rules: Sequence[str]) -> list[str]:
    """A colour for each rule: strict and advisory have theirs in every run."""
    own = {"strict": RULE_COLOURS[0], "advisory": RULE_COLOURS[1]}
    others = [rule for rule in rules if rule not in own]
    given = dict(zip(others, cycle(RULE_COLOURS[2:], len(others)), strict=True))
    return [{**own, **given}[rule] for rule in rules]


def rule_marks(rules: Sequence[str]) -> dict[str, Any]:
    """Colour and shape of the rules."""
    alt = altair_module()
    legend = alt.Legend(orient="top", title="stopping rule:")
    domain = list(rules)
    return {
        "color": alt.Color(
            field="rule",
            type="nominal",
            scale=alt.Scale(domain=domain, range=rule_colours(domain)),
            legend=legend,
        ),
        "shape": alt.Shape(
            field="rule",
            type="nominal",
            scale=alt.Scale(domain=domain, range=cycle(RULE_SHAPES, len(domain))),
            legend=legend,
        ),
    }


def extent(rows: Iterable[Row], column: str) -> tuple[float, float]:
    """The smallest and the largest value of a column, its intervals included."""
    found = [
        row[name]
        for row in rows
        for name in (column, f"{column}_low", f"{column}_high")
        if row.get(name) is not None
    ]
    return (min(found), max(found)) if found else (0.0, 1.0)


def percent_domain(rows: Sequence[Row], column: str) -> list[float]:
    """Whole tens around all values."""
    low, high = extent(rows, column)
    low, high = math.floor(low / 10) * 10, math.ceil(high / 10) * 10
    return [max(0, low), min(100, high)] if high > low else [max(0, low - 10), min(100, high + 10)]


def curve(rows: Sequence[Row], column: str, x: Any, y: Any, tooltip: list[Any]) -> list[Any]:
    """Line, points and interval band of each rule, as layers; a point marked by `is_bank_end` is
    hollow."""
    alt = altair_module()
    rules = rule_order(rows)
    marks = rule_marks(rules)
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
    layers = [interval, base.mark_line(strokeWidth=2).encode(color=marks["color"])]
    for is_bank_end in (False, True):
        points = [row for row in rows if row.get("is_bank_end", False) == is_bank_end]
        chart = alt.Chart(inline(points)).encode(x=x, y=y, tooltip=tooltip, **marks)
        look = {"filled": False, "fill": "white"} if is_bank_end else {"filled": True}
        if points:
            layers.append(chart.mark_point(size=70, opacity=1, **look))
    return layers


def some(
    con: duckdb.DuckDBPyConnection,
    name: str,
    known: data.Known | None,
    archives: Sequence[str] | None,
    needs: str = "accuracy",
) -> list[Row]:
    """The rows of a table for the archives wanted that have a value to draw."""
    rows = [
        row
        for row in data.rows(con, name, known)
        if (archives is None or row["archive"] in archives) and row.get(needs, 0) is not None
    ]
    if not rows:
        needed = "policies (--policies all), " if name == "policies" else ""
        raise AuditError(
            f"no figure: table {name} has nothing to draw; replay with {needed}at least one random "
            "order (--orders 1) and labelled archives"
        )
    return rows
