"""Write the findings of two demonstrations: sentences on one budget, a table of all budgets."""

from collections.abc import Mapping, Sequence
from typing import Any

from audit.output.display import round_half_up
from audit.output.terminal import DisplayColumn, lay_out
from audit.rules import RULES
from audit.units import UNITS, Unit, budget_name, write_amount

Row = dict[str, Any]
# The budgets of the sentences: dollars per issue, tokens per problem.
AN_ISSUE, A_PROBLEM = 0.50, 4000
# Terminals in the table of forced answers, with the names of their rows.
ENDINGS = {"none": "cut", "standing": "box so far", "forced": "forced answer"}


def agents_finding(curves: Sequence[Row], unit: Unit) -> str:
    """Write the percent solved and the cost of each rule in the recorded agent runs."""
    rows = {(row["rule"], row["budget"]): row for row in curves}
    issues = {rule: row for (rule, at), row in rows.items() if at == AN_ISSUE}
    solved = {rule: _format_percent(row["accuracy"]) for rule, row in issues.items()}
    paid = {rule: write_amount(row["cost"], unit) for rule, row in issues.items()}
    lines = [
        f"At {budget_name(AN_ISSUE, unit)} an issue, {solved['strict']} are solved when the budget "
        f"cuts, {solved['step']} when the running step may finish and {solved['advisory']} when "
        "the attempt may finish.",
        f"They cost {paid['strict']}, {paid['step']} and {paid['advisory']} an issue; an attempt "
        f"thrown away after the fact solves {solved['attempt_lost']} for {paid['attempt_lost']}.",
        "This is a replay of recorded runs; an agent that is told its budget may act otherwise.",
    ]
    names: list[str] = []
    columns: dict[float, list[str]] = {budget: [] for budget in sorted({at for _, at in rows})}
    for rule in filter(solved.get, RULES):
        names += [f"{rule}, solved", f"  {RULES[rule].crossing}, paid"]
        for budget, cells in columns.items():
            row = rows[rule, budget]
            cells += [_format_percent(row["accuracy"]), write_amount(row["cost"], unit)]
    return "\n".join([*lines, "", _lay_out("rule", names, columns, unit)])


def forced_finding(terminals: Sequence[Row], main: Sequence[Row]) -> str:
    """Write the percent correct and the tokens of each terminal and of the advisory rule."""
    rows = {(row["archive"], row["budget"], row["terminal"]): row for row in terminals}
    rows |= {(row["archive"], row["budget"], "advisory"): row for row in main}
    unit = UNITS["completion"]
    lines: list[str] = []
    names: list[str] = []
    columns: dict[float, list[str]] = {budget: [] for budget in sorted({at for _, at, _ in rows})}
    for archive in sorted({archive for archive, *_ in rows}):
        names += [archive, *(f"  {word}" for word in ENDINGS.values()), "  tokens"]
        names += ["  advisory", "  tokens"]
        for budget, cells in columns.items():
            advisory = rows[archive, budget, "advisory"]
            ended = [_format_percent(rows[archive, budget, name]["accuracy"]) for name in ENDINGS]
            spent = f"{rows[archive, budget, 'forced']['cost']:,.0f}"
            right = _format_percent(advisory["advisory_accuracy"])
            paid = f"{advisory['advisory_cost']:,.0f}"
            cells += ["", *ended, spent, right, paid]
            if budget == A_PROBLEM:
                cut, standing, forced = ended
                lines.append(
                    f"{archive} at {budget_name(budget, unit)} tokens: {cut} are right when the "
                    f"running attempt is cut, {standing} with the box that stands in its text, "
                    f"{forced} with one forced answer at the same {spent} tokens, {right} when "
                    f"the attempt may finish, for {paid} tokens."
                )
    lines.append(
        "Advisory abstains where the running attempt ends by its own generation limit, and a "
        "forced answer does not: most of forced's lead at 16k comes from there."
    )
    return "\n".join([*lines, "", _lay_out("budget", names, columns, unit)])


def _lay_out(corner: str, names: list[str], columns: Mapping[float, list[str]], unit: Unit) -> str:
    """Format a table with a column of names and a column per budget."""
    table = [DisplayColumn(corner, names, False)]
    table += [DisplayColumn(budget_name(at, unit), cells, True) for at, cells in columns.items()]
    return lay_out(table, len(names))


def _format_percent(accuracy: float) -> str:
    """Format a percentage with one decimal."""
    return round_half_up(accuracy, 1) + " %"
