"""The figure budget_curve: accuracy over the budget, and the realized cost below it."""

import itertools
import math
from collections.abc import Sequence

import duckdb

from audit import engine
from audit.output.headings import replayed_unit
from audit.report import captions, data
from audit.report.data import Row
from audit.report.figures import panels
from audit.report.figures.drawing import PLAIN, Drawing, Look
from audit.report.figures.panels import Panel
from audit.units import budget_name

# In a figure of one column, with more archives than this the costs are left out.
MOST_WITH_COSTS = 4


def budget_curve(con: duckdb.DuckDBPyConnection, archives: Sequence[str] | None = None) -> Drawing:
    """Draw accuracy at every budget of the table, and the realized cost as a multiple of B."""
    rows = panels.read_rows(con, "curves", archives)
    # Points at which too many replays ended because the bank ran out.
    ends = {tuple(row.values()) for row in data.read(con, "bank_ends").to_pylist()}
    shown = {row["archive"] for row in rows}
    lines = panels.read_rule_lines(con)
    curves = data.group_by_archive(engine.compute_table(con, "budget_curve").to_pylist())
    dense = [row for archive in shown for row in lines[archive]]
    rules = panels.rule_domain(rows)
    points = [row | {"is_bank_end": (row["archive"], row["budget"]) in ends} for row in rows]
    points.sort(key=lambda row: rules.index(row["rule"]))
    reached = [row["budget"] for row in dense]
    across = [min(reached) / 1.15, max(reached) * 1.15]
    log_width = math.log(across[1] / across[0])
    low, high = panels.find_extent(dense, "cost_ratio")
    tens = panels.percent_domain([*rows, *dense])
    shared = {
        "across": across,
        "percent": {"domain": tens, "nice": False, "zero": False},
        # Below the cheapest attempt advisory pays many times B: equal ratios are equal steps.
        "ratio": {"type": "log", "domain": [min(low, 0.9), max(high, 1.1)], "nice": False},
        "ticks": panels.round_ticks(min(low, 0.9), max(high, 1.1)),
    }
    words = (
        "Shaded: where the advisory curve may lie (95 %, all budgets together). Bars: 95 % "
        "interval at the budgets of the run. Dotted line: cost equal to B."
        + (" Hollow: over 5 % of replays ended because the bank ran out." if ends else "")
    )

    def draw(look: Look = PLAIN) -> Row:
        # Many panels in one column of a paper leave no room for the costs below them.
        has_costs = not (look.is_narrow and len(shown) > MOST_WITH_COSTS)
        budgets = sorted({row["budget"] for row in rows})
        names = [budget_name(budget, replayed_unit(con)) for budget in budgets]

        def values(panel: Panel) -> Row:
            return shared | {
                "has_costs": has_costs,
                "budget_axis": _make_axis(budgets, names, panel.width / log_width),
                "points": [row for row in points if row["archive"] == panel.archive],
                "lines_joined": lines[panel.archive],
                "curve": curves.get(panel.archive, []),
            }

        title = f"{'Accuracy and realized cost' if has_costs else 'Accuracy'} over the budget"
        figure = panels.draw_panels(con, "budget_curve", points, title, words, values, look)
        said = captions.TEXTS["figures"]["budget_curve"]
        return figure | ({} if has_costs else {"usermeta": {"caption": said["without_costs"]}})

    return draw


def _make_axis(budgets: Sequence[float], names: Sequence[str], scale: float) -> Row:
    """Return an axis with every budget of the run, labels upright where they are too close."""
    gaps = [scale * math.log(right / left) for left, right in itertools.pairwise(budgets)]
    gap = min(gaps, default=math.inf)
    is_upright = gap < 7 * max(map(len, names))
    return {
        "values": list(budgets),
        "labelAngle": -90 if is_upright else 0,
        "labelFontSize": max(6, min(11, round(gap - 1))) if is_upright else 11,
        "labelOverlap": False,
        "grid": False,
    }
