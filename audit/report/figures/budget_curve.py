"""Accuracy over the budget, and below it the realized cost."""

from collections.abc import Sequence
from typing import Any

import duckdb

from audit.output.display import budget_name
from audit.output.headings import replayed_unit
from audit.report import data
from audit.report.figures.drawing import INK, PLAIN, Look, altair_module, frame, inline, tips
from audit.report.figures.panels import (
    budget_axis,
    columns_for,
    curve,
    extent,
    panel_height,
    panel_title,
    panel_width,
    percent_domain,
    some,
)
from audit.report.wording import with_interval
from audit.units import write_digits


def budget_curve(
    con: duckdb.DuckDBPyConnection,
    look: Look = PLAIN,
    *,
    archives: Sequence[str] | None = None,
    known: data.Known | None = None,
) -> Any:
    """Accuracy over B for both rules, and below it the realized cost as a multiple of B."""
    alt, unit = altair_module(), replayed_unit(con)
    rows = some(con, "curves", known, archives)
    panels = data.group(rows, lambda row: row["archive"])
    columns = look.columns or columns_for(len(panels), look.width)
    width = panel_width(columns, look.width)
    budgets = sorted({row["budget"] for row in rows})
    bank_ends = data.bank_ends(con)
    accuracy = alt.Scale(domain=percent_domain(rows, "accuracy"), nice=False, zero=False)
    cost = alt.Scale(domain=[0, 1.08 * max(1.0, extent(rows, "cost_ratio")[1])], nice=False)
    pairs = []
    for index, (archive, found) in enumerate(panels.items()):
        first = index % columns == 0
        shown = [
            row
            | {
                "shown_budget": budget_name(row["budget"], unit),
                "shown_accuracy": with_interval(row, "accuracy"),
                "shown_ratio": with_interval(row, "cost_ratio"),
                "shown_cost": write_digits(row["cost"], unit),
                "is_bank_end": (archive, row["budget"]) in bank_ends,
            }
            for row in found
        ]
        tooltip = tips(
            ("archive", "archive"),
            ("rule", "rule"),
            ("shown_budget", "budget B"),
            ("shown_accuracy", "accuracy, %"),
            ("shown_cost", f"mean cost, {unit.many}"),
            ("shown_ratio", "cost / B"),
        )
        top = curve(
            shown,
            "accuracy",
            budget_axis(budgets, None, unit),
            alt.Y(
                field="accuracy",
                type="quantitative",
                scale=accuracy,
                title="accuracy, %" if first else None,
                axis=alt.Axis(tickCount=5),
            ),
            tooltip,
        )
        bottom = curve(
            shown,
            "cost_ratio",
            budget_axis(budgets, f"budget B, {unit.measures}", unit),
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
                alt.layer(
                    *top,
                    width=width,
                    height=panel_height(width, 190),
                    title=panel_title(archive, width, list(panels)),
                ),
                alt.layer(one, *bottom, width=width, height=panel_height(width, 110)),
                spacing=14,
            )
        )
    whole = frame(
        con,
        "Accuracy and realized cost over the budget",
        "Bands: 95 % problem-bootstrap interval of each curve. Dotted line: cost equal to B."
        + (" Hollow: over 5 % of replays ended because the bank ran out." if bank_ends else ""),
        look,
    )
    return alt.concat(*pairs, columns=columns, **whole)
