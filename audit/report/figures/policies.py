"""Policies: accuracy against realized cost, policy by shape, rule by fill, the frontier dotted."""

from collections.abc import Callable, Sequence
from functools import partial

from audit.report.data import Row
from audit.report.figures import panels
from audit.report.figures.panels import Panel, PanelFigure, Sheet


@partial(PanelFigure, "policies", "Controllers that stop by themselves")
def policies(sheet: Sheet) -> tuple[str, Callable[[Panel], Row]]:
    """Return every policy under every rule at every budget of the run, one panel per archive."""
    names = sorted({row["policy"] for row in sheet.rows}, key=lambda name: (name != "none", name))
    costs = [row["cost"] for row in sheet.rows]
    reach = [min(costs) / 1.1, max(costs) * 1.1]
    shared = {
        "names": names,
        "domain": panels.percent_around(sheet.rows, 0.08),
        "reach": reach,
        "ticks": panels.round_ticks(*reach),
        "colours": panels.cycle(panels.RULE_COLOURS, len(names)),
        "shapes": panels.cycle(panels.RULE_SHAPES, len(names)),
    }

    def values(panel: Panel) -> Row:
        rows = [row | {"line": f"{row['policy']} {row['rule']}"} for row in panel.rows]
        return {**shared, "rows": rows, "frontier": _frontier(rows)}

    words = (
        "Filled: strict. Hollow: other rules. Lines join the budgets; dotted: the best accuracy at "
        "the same cost."
    )
    return words, values


def _frontier(rows: Sequence[Row]) -> list[Row]:
    """Return the points that no cheaper point reaches, by cost."""
    best: list[Row] = []
    for row in sorted(rows, key=lambda row: (row["cost"], -row["accuracy"])):
        if not best or row["accuracy"] > best[-1]["accuracy"]:
            best.append({"cost": row["cost"], "accuracy": row["accuracy"]})
    return best
