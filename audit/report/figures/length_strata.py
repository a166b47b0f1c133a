"""The paired accuracy change in each archive's shorter and longer half."""

from collections.abc import Sequence
from typing import Any

import duckdb

from audit.output.display import budget_name
from audit.output.headings import replayed_unit
from audit.report import data
from audit.report.figures.drawing import (
    GREEN,
    INK,
    PLAIN,
    PURPLE,
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
    some,
)
from audit.report.wording import number, with_interval

STRATA = ("shorter", "longer")


def length_strata(
    con: duckdb.DuckDBPyConnection,
    look: Look = PLAIN,
    *,
    archives: Sequence[str] | None = None,
    known: data.Known | None = None,
) -> Any:
    """The paired accuracy change in each archive's shorter and longer half, with intervals."""
    alt, unit = altair_module(), replayed_unit(con)
    rows = some(con, "length_strata", known, archives, "delta")
    panels = data.group(rows, lambda row: row["archive"])
    columns = look.columns or columns_for(len(panels), look.width)
    width = panel_width(columns, look.width)
    low, high = extent(rows, "delta")
    scale = alt.Scale(domain=[min(0, low), max(0, high)], nice=True)
    budgets = [budget_name(budget, unit) for budget in sorted({row["budget"] for row in rows})]
    # A narrow figure leaves the words to its caption.
    title = "problems by median length:" if look.width > 400 else "problems:"
    legend = alt.Legend(orient="top", title=title)
    charts = []
    for index, (archive, found) in enumerate(panels.items()):
        shown = [
            row
            | {
                "shown_budget": budget_name(row["budget"], unit),
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
                title=f"budget B, {unit.measures}",
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
                zero,
                bars,
                points,
                width=width,
                height=panel_height(width, 230),
                title=panel_title(archive, width, list(panels)),
            )
        )
    whole = frame(
        con,
        "Accuracy change in the shorter and the longer half",
        "Advisory minus strict at the same B, with 95 % problem-bootstrap intervals.",
        look,
    )
    return alt.concat(*charts, columns=columns, **whole)
