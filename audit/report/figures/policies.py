"""The figure policies: accuracy against realized cost of every policy and rule."""

from collections.abc import Sequence
from functools import partial

import duckdb

from audit.report.data import Row
from audit.report.figures import panels
from audit.report.figures.drawing import Drawing
from audit.report.figures.panels import Panel


def policies(con: duckdb.DuckDBPyConnection, archives: Sequence[str] | None = None) -> Drawing:
    """Draw every policy under every rule at every budget of the run, one panel per archive."""
    rows = panels.read_rows(con, "policies", archives)
    rows = [row | {"line": f"{row['policy']} {row['rule']}"} for row in rows]
    costs = [row["cost"] for row in rows]
    reach = [min(costs) / 1.1, max(costs) * 1.1]
    shared = {
        "names": sorted({row["policy"] for row in rows}, key=lambda name: (name != "none", name)),
        "domain": panels.percent_domain(rows),
        "reach": reach,
        "ticks": panels.round_ticks(*reach),
    }
    words = (
        "Filled: strict. Hollow: other rules. Lines join the budgets; dotted: the best accuracy at "
        "the same cost."
    )

    def values(panel: Panel) -> Row:
        return shared | {"frontier": _find_frontier(panel.rows)}

    title = "Controllers that stop by themselves"
    return partial(panels.draw_panels, con, "policies", rows, title, words, values)


def _find_frontier(rows: Sequence[Row]) -> list[Row]:
    """Return the points that are more accurate than every cheaper one, by cost."""
    best: list[Row] = []
    for row in sorted(rows, key=lambda row: (row["cost"], -row["accuracy"])):
        if not best or row["accuracy"] > best[-1]["accuracy"]:
            best.append({"cost": row["cost"], "accuracy": row["accuracy"]})
    return best
