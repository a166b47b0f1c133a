"""The paired accuracy change in each archive's shorter and longer half."""

from collections.abc import Callable
from functools import partial
from typing import Any

from audit.output.display import budget_name
from audit.report.figures.drawing import GREEN, INK, PURPLE, category, inline, quantity
from audit.report.figures.panels import Panel, PanelFigure, Sheet, extent

STRATA = ("shorter", "longer")


@partial(
    PanelFigure,
    "length_strata",
    "Accuracy change in the shorter and the longer half",
    needs="delta",
)
def length_strata(sheet: Sheet) -> tuple[str, Callable[[Panel], Any]]:
    """The paired accuracy change in each archive's shorter and longer half, with intervals."""
    alt, unit = sheet.alt, sheet.unit
    low, high = extent(sheet.rows, "delta")
    scale = alt.Scale(domain=[min(0, low), max(0, high)], nice=True)
    budgets = [budget_name(b, unit) for b in sorted({row["budget"] for row in sheet.rows})]
    # A narrow figure leaves the words to its caption.
    title = "problems by median length:" if sheet.look.width > 400 else "problems:"
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
    tooltip = sheet.tips("archive", "stratum", "problems", "budget", "delta", "extra_cost")

    def draw(panel: Panel) -> Any:
        base = alt.Chart(inline(panel.rows)).encode(
            x=x,
            xOffset=alt.XOffset(field="stratum", type="nominal", sort=list(STRATA), scale=halves),
            color=category("Color", "stratum", STRATA, (GREEN, PURPLE), legend=legend),
            tooltip=tooltip,
        )
        delta = panel.y("delta", "accuracy change, points", scale, tickCount=6)
        shapes = category("Shape", "stratum", STRATA, ("triangle-up", "diamond"), legend=legend)
        zero = alt.Chart(inline([{"zero": 0}])).mark_rule(strokeDash=[2, 3], color=INK)
        ends = {"y": quantity("Y", "delta_low", scale=scale), "y2": alt.Y2("delta_high")}
        return panel.layer(
            zero.encode(y=quantity("Y", "zero", scale=scale)),
            base.mark_rule(strokeWidth=2.5).encode(**ends),
            base.mark_point(filled=True, size=90, opacity=1).encode(y=delta, shape=shapes),
            height=230,
        )

    return "Advisory minus strict at the same B, with 95 % problem-bootstrap intervals.", draw
