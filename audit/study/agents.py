"""What the recorded agent runs show, in three lines and a table for a terminal."""

from collections.abc import Sequence
from typing import Any

from audit.output.display import budget_name, round_half_up
from audit.output.terminal import DisplayColumn, lines_of
from audit.rules import RULES
from audit.units import Unit, write_amount

HEADLINE_BUDGET = 0.50


def finding(curves: Sequence[dict[str, Any]], unit: Unit) -> str:
    """Write three lines on one budget, and percent solved and cost of every rule and budget."""
    rows = {(row["rule"], row["budget"]): row for row in curves}
    budgets = sorted({row["budget"] for row in curves})
    headline = min(budgets, key=lambda budget: abs(budget - HEADLINE_BUDGET))

    def solved(rule: str) -> str:
        return round_half_up(rows[rule, headline]["accuracy"], 1) + " %"

    def paid(rule: str) -> str:
        return write_amount(rows[rule, headline]["cost"], unit)

    lines = [
        f"At {budget_name(headline, unit)} an issue, {solved('strict')} are solved when the budget "
        f"cuts, {solved('step')} when the running step may finish and {solved('advisory')} when "
        "the attempt may finish.",
        f"They cost {paid('strict')}, {paid('step')} and {paid('advisory')} an issue; an attempt "
        f"thrown away after the fact solves {solved('attempt_lost')} for {paid('attempt_lost')}.",
        "This is a replay of recorded runs; an agent that is told its budget may act otherwise.",
    ]
    rules = [rule for rule in RULES if (rule, headline) in rows]
    names = [
        text for rule in rules for text in (f"{rule}, solved", f"  {RULES[rule].crossing}, paid")
    ]
    columns = [DisplayColumn("rule", names, False)]
    for budget in budgets:
        points = [rows[rule, budget] for rule in rules]
        pairs = [
            (round_half_up(row["accuracy"], 1) + " %", write_amount(row["cost"], unit))
            for row in points
        ]
        cells = [cell for both in pairs for cell in both]
        columns.append(DisplayColumn(budget_name(budget, unit), cells, True))
    return "\n".join([*lines, "", lines_of(columns, len(names))])
