"""Accuracy over the budget, and below it the realized cost."""

from collections.abc import Callable
from functools import partial

from audit.report import captions, data
from audit.report.data import Row
from audit.report.figures import panels
from audit.report.figures.panels import Panel, PanelFigure, Sheet, rule_lines
from audit.rules import order_rules

# In a figure of one column, with more archives than this the costs are left out.
MOST_WITH_COSTS = 4


@partial(PanelFigure, "curves", "Accuracy and realized cost over the budget")
def budget_curve(sheet: Sheet) -> tuple[str, Callable[[Panel], Row]]:
    """Accuracy at every budget of the table, and below it the realized cost as a multiple of B."""
    rows, ends = sheet.rows, data.bank_ends(sheet.con)
    shown = {row["archive"] for row in rows}
    curve = [row for row in sheet.table("budget_curve") if row["archive"] in shown]
    curves = data.by_archive(curve)
    lines = rule_lines(rows, curve)
    reached = [row["budget"] for row in lines]
    low, high = panels.extent(lines, "cost_ratio")
    budgets = sorted({row["budget"] for row in rows})
    across = [min(reached) / 1.15, max(reached) * 1.15]
    # Many panels in one column of a paper leave no room for the costs below them.
    has_costs = not (sheet.look.is_narrow and len(shown) > MOST_WITH_COSTS)
    if not has_costs:
        sheet.words["title"] = "Accuracy over the budget"
        sheet.words["caption"] = captions.SAID["figures"]["budget_curve"]["without_costs"]
    tens = panels.percent_domain([*rows, *lines], "accuracy")
    (colour,) = panels.rule_colours(["advisory"])
    shared = {
        "across": across,
        "has_costs": has_costs,
        "percent": {"domain": tens, "nice": False, "zero": False},
        # Below the cheapest attempt advisory pays many times B: equal ratios are equal steps.
        "ratio": {"type": "log", "domain": [min(low, 0.9), max(high, 1.1)], "nice": False},
        "ticks": panels.round_ticks(min(low, 0.9), max(high, 1.1)),
        "advisory": colour,
    }

    def values(panel: Panel) -> Row:
        own = curves.get(panel.archive, [])
        rules = order_rules(row["rule"] for row in panel.rows)
        points = [
            row | {"is_bank_end": (row["archive"], row["budget"]) in ends} for row in panel.rows
        ]

        def by_rule(row: Row) -> int:
            return rules.index(row["rule"])

        return {
            **shared,
            **panels.rule_marks(rules, panels.rule_legend(sheet.look)),
            "budget_axis": panels.budget_axis(budgets, across, panel.width, sheet.unit),
            "points": sorted(points, key=by_rule),
            "lines_joined": sorted(rule_lines(points, own), key=by_rule),
            "shade": [_shade(row, *tens) for row in own if row["band_low"] is not None],
        }

    words = (
        "Shaded: where the advisory curve may lie (95 %, all budgets together). Bars: 95 % "
        "interval at the budgets of the run. Dotted line: cost equal to B."
        + (" Hollow: over 5 % of replays ended because the bank ran out." if ends else "")
    )
    return words, values


def _shade(row: Row, low: float, high: float) -> Row:
    """Return the band of the whole difference at a budget, on top of the strict curve."""
    ends = {
        end: min(high, max(low, row["strict_accuracy"] + row[end]))
        for end in ("band_low", "band_high")
    }
    return {"budget": row["budget"], **ends}
