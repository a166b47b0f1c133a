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
    category,
    inline,
    quantity,
    tips,
)
from audit.report.figures.panels import (
    Panel,
    extent,
    in_panels,
    in_words,
    panel_height,
    rows_to_draw,
)

STRATA = ("shorter", "longer")
TOLD = (
    ("archive", "archive"),
    ("stratum", "half"),
    ("problems", "problems"),
    ("shown_budget", "budget B"),
    ("shown_delta", "change, points"),
)


def length_strata(
    con: duckdb.DuckDBPyConnection,
    look: Look = PLAIN,
    *,
    archives: Sequence[str] | None = None,
    computed: data.Computed | None = None,
) -> Any:
    """The paired accuracy change in each archive's shorter and longer half, with intervals."""
    alt, unit = altair_module(), replayed_unit(con)
    rows = rows_to_draw(con, "length_strata", computed, archives, "delta")
    low, high = extent(rows, "delta")
    scale = alt.Scale(domain=[min(0, low), max(0, high)], nice=True)
    budgets = [budget_name(budget, unit) for budget in sorted({row["budget"] for row in rows})]
    # A narrow figure leaves the words to its caption.
    title = "problems by median length:" if look.width > 400 else "problems:"
    legend = alt.Legend(orient="top", title=title)
    halves = alt.Scale(domain=list(STRATA), paddingOuter=0.9)
    x = alt.X(
        field="shown_budget",
        type="ordinal",
        sort=budgets,
        title=f"budget B, {unit.measures}",
        axis=alt.Axis(labelAngle=0, grid=False),
        scale=alt.Scale(domain=budgets),
    )
    tooltip = tips(*TOLD, ("shown_extra_cost", f"extra {unit.many}"))

    def draw(panel: Panel) -> Any:
        base = alt.Chart(inline(in_words(panel.rows, unit))).encode(
            x=x,
            xOffset=alt.XOffset(field="stratum", type="nominal", sort=list(STRATA), scale=halves),
            color=category("Color", "stratum", STRATA, (GREEN, PURPLE), legend=legend),
            tooltip=tooltip,
        )
        title = panel.y_title("accuracy change, points")
        delta = quantity("Y", "delta", scale=scale, title=title, axis=alt.Axis(tickCount=6))
        shapes = category("Shape", "stratum", STRATA, ("triangle-up", "diamond"), legend=legend)
        zero = alt.Chart(inline([{"zero": 0}])).mark_rule(strokeDash=[2, 3], color=INK)
        ends = {"y": quantity("Y", "delta_low", scale=scale), "y2": alt.Y2("delta_high")}
        return alt.layer(
            zero.encode(y=quantity("Y", "zero", scale=scale)),
            base.mark_rule(strokeWidth=2.5).encode(**ends),
            base.mark_point(filled=True, size=90, opacity=1).encode(y=delta, shape=shapes),
            width=panel.width,
            height=panel_height(panel.width, 230),
            title=panel.title,
        )

    return in_panels(
        con,
        look,
        rows,
        draw,
        "Accuracy change in the shorter and the longer half",
        "Advisory minus strict at the same B, with 95 % problem-bootstrap intervals.",
    )
