"""What a forced answer buys in the recorded attempts, in three lines and a table."""

from collections.abc import Sequence
from typing import Any

from audit.output.display import budget_name, round_half_up
from audit.output.terminal import DisplayColumn, lines_of
from audit.units import UNITS

HEADLINE_BUDGET = 4000
# What a row of the table shows, and the terminal whose accuracy it is.
SHOWN = {"none": "cut", "standing": "box so far", "forced": "forced answer"}
Row = dict[str, Any]


def finding(terminals: Sequence[Row], main: Sequence[Row]) -> str:
    """Write three lines on one budget, and percent correct and tokens at every budget."""
    rows = {(row["archive"], row["budget"], row["terminal"]): row for row in terminals}
    advisory = {(row["archive"], row["budget"]): row for row in main}
    archives = sorted({row["archive"] for row in terminals})
    budgets = sorted({row["budget"] for row in terminals})
    headline = min(budgets, key=lambda budget: abs(budget - HEADLINE_BUDGET))
    lines = []
    for archive in archives:
        cut, standing, forced = (
            _percent(rows[archive, headline, name]["accuracy"]) for name in SHOWN
        )
        paid, spent = advisory[archive, headline], rows[archive, headline, "forced"]["cost"]
        lines.append(
            f"{archive} at {budget_name(headline, UNITS['completion'])} tokens: {cut} are right "
            f"when the running attempt is cut, {standing} with the box that stands in its text, "
            f"{forced} with one forced answer at the same {spent:,.0f} tokens, "
            f"{_percent(paid['advisory_accuracy'])} when the attempt may finish, for "
            f"{paid['advisory_cost']:,.0f} tokens."
        )
    lines.append(
        "Advisory abstains where the running attempt ends by its own generation limit, and a "
        "forced answer does not: most of forced's lead at 16k comes from there."
    )
    names: list[str] = []
    columns: dict[float, list[str]] = {budget: [] for budget in budgets}
    for archive in archives:
        names += [archive, *(f"  {word}" for word in SHOWN.values()), "  tokens"]
        names += ["  advisory", "  tokens"]
        for budget, cells in columns.items():
            ended = [rows[archive, budget, name] for name in SHOWN]
            paid = advisory[archive, budget]
            cells += ["", *(_percent(row["accuracy"]) for row in ended), f"{ended[0]['cost']:,.0f}"]
            cells += [_percent(paid["advisory_accuracy"]), f"{paid['advisory_cost']:,.0f}"]
    shown = [DisplayColumn("budget", names, False)]
    shown += [
        DisplayColumn(budget_name(budget, UNITS["completion"]), cells, True)
        for budget, cells in columns.items()
    ]
    return "\n".join([*lines, "", lines_of(shown, len(names))])


def _percent(accuracy: float) -> str:
    return round_half_up(accuracy, 1) + " %"
