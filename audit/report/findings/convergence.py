"""Where do the two rules converge?"""

from collections.abc import Sequence
from functools import partial
from itertools import takewhile

from audit.report.data import Row, by_archive
from audit.report.findings.shared import (
    CONVERGED_POINTS,
    Finding,
    Topic,
    contains_zero,
    count_of,
    key_of,
    topic,
)
from audit.report.wording import TOKENS, budget_name, interval, number, signed
from audit.units import Unit


def convergence(
    main: Sequence[Row], threshold: float = CONVERGED_POINTS, *, unit: Unit = TOKENS
) -> Topic | None:
    """From which budget on the two rules stay within the threshold."""
    said = partial(budget_name, unit=unit)
    findings = []
    met, below = 0, number(threshold, 1)
    for archive, rows in by_archive(main).items():
        rows = sorted(rows, key=lambda row: -row["budget"])
        last = rows[0]
        onward = [*takewhile(lambda row: abs(row["delta"]) < threshold, rows)][::-1]
        if onward:
            met += 1
            start = said(onward[0]["budget"])
            every = "" if len(onward) == 1 else " and every larger budget"
            sentence = f"From B = {start}{every} the change stays below {below} points: "
            sentence += ", ".join(
                f"{signed(row['delta'])}{interval(row, 'delta')} at {said(row['budget'])}"
                for row in onward
            )
            sentence += "."
            if any(contains_zero(row, "delta") for row in onward):
                sentence += (
                    " Where an interval contains zero it does not exclude no change; it does not"
                    " show that the rules are the same."
                )
            exhausted = [row for row in onward if row["strict_cost_ratio"] < 1]
            if exhausted:
                sentence += (
                    f" Strict pays less than B from {said(exhausted[0]['budget'])} on: where the"
                    " attempts ran out before the budget, the rules must agree."
                )
            short = f"from {start} on, below {below} points"
        else:
            sentence = (
                f"The rules do not converge within the budgets replayed: at B = "
                f"{said(last['budget'])}, the largest, accuracy still differs by "
                f"{signed(last['delta'])} points{interval(last, 'delta')}."
            )
            short = f"not by {said(last['budget'])}: {signed(last['delta'])} points there"
        keys = [key_of(row, "budget") for row in onward or [last]]
        findings.append(Finding(archive, sentence, "main", keys, short))
    verb = "They come" if met else "They do not come"
    where = f" {count_of(met, len(findings))}" if met else " at any budget replayed"
    summary = f"{verb} within {below} points of each other{where}."
    return topic("Where do the two rules converge?", summary, findings)
