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
)
from audit.report.wording import TOKENS, budget_name, interval, number, signed
from audit.units import Unit


def convergence(
    main: Sequence[Row], threshold: float = CONVERGED_POINTS, *, unit: Unit = TOKENS
) -> Topic | None:
    """From which budget on the two rules stay within the threshold."""
    said = partial(budget_name, unit=unit)
    findings = []
    met = 0
    for archive, rows in by_archive(main).items():
        rows = sorted(rows, key=lambda row: -row["budget"])
        last = rows[0]
        onward = [*takewhile(lambda row: abs(row["delta"]) < threshold, rows)][::-1]
        if not onward:
            sentence = (
                f"The rules do not converge within the budgets replayed: at B = "
                f"{said(last['budget'])}, the largest, accuracy still differs by "
                f"{signed(last['delta'])} points{interval(last, 'delta')}."
            )
            keys = [key_of(last, "budget")]
            short = f"not by {said(last['budget'])}: {signed(last['delta'])} points there"
        else:
            met += 1
            start = said(onward[0]["budget"])
            every = "" if len(onward) == 1 else " and every larger budget"
            listed = ", ".join(
                f"{signed(row['delta'])}{interval(row, 'delta')} at {said(row['budget'])}"
                for row in onward
            )
            open_ended = [row for row in onward if contains_zero(row, "delta")]
            caution = (
                " Where an interval contains zero it does not exclude no change; it does not show"
                " that the rules are the same."
                if open_ended
                else ""
            )
            exhausted = [row for row in onward if row["strict_cost_ratio"] < 1]
            ran_out = (
                f" Strict pays less than B from {said(exhausted[0]['budget'])} on: where the"
                " attempts ran out before the budget, the rules must agree."
                if exhausted
                else ""
            )
            sentence = (
                f"From B = {start}{every} the change stays below "
                f"{number(threshold, 1)} points: {listed}.{caution}{ran_out}"
            )
            keys = [key_of(row, "budget") for row in onward]
            short = f"from {start} on, below {number(threshold, 1)} points"
        findings.append(Finding(archive, sentence, "main", keys, short))
    if not findings:
        return None
    verb = "They come" if met else "They do not come"
    where = f" {count_of(met, len(findings))}" if met else " at any budget replayed"
    return Topic(
        "Where do the two rules converge?",
        f"{verb} within {number(threshold, 1)} points of each other{where}.",
        findings,
    )
