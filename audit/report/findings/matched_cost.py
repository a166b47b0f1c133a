"""Which rule is better at the same cost?"""

from collections.abc import Sequence
from functools import partial

from audit.report.data import Row, by_archive
from audit.report.findings.shared import (
    Finding,
    Topic,
    contains_zero,
    count_of,
    interval_words,
    key_of,
    topic,
)
from audit.report.wording import TOKENS, amount, budget_name, interval, number, signed
from audit.units import Unit


def matched_cost(matched: Sequence[Row], *, unit: Unit = TOKENS) -> Topic | None:
    """Advisory at each budget against the strict budget that costs as much, measured exactly."""
    said = partial(budget_name, unit=unit)
    findings = []
    better = worse = 0
    groups = by_archive([row for row in matched if row["delta"] is not None])
    for archive, rows in groups.items():
        row = max(rows, key=lambda row: (abs(row["delta"]), -row["advisory_budget"]))
        is_clear = contains_zero(row, "delta") is False
        better += is_clear and row["delta"] > 0
        worse += is_clear and row["delta"] < 0
        margin = row.get("equivalence_margin")
        limit = (
            f" A difference of more than {number(margin)} points is excluded."
            if margin is not None and not is_clear
            else ""
        )
        findings.append(
            Finding(
                archive,
                f"Advisory at B = {said(row['advisory_budget'])} costs "
                f"{amount(row['advisory_cost'], unit)} on average and reaches "
                f"{number(row['advisory_accuracy'])} %; strict costs as much at B = "
                f"{amount(row['strict_budget'], unit)} and reaches "
                f"{number(row['strict_accuracy'])} %: "
                f"{signed(row['delta'])} points{interval(row, 'delta')} at the same cost; "
                f"{interval_words(row, noun='difference')}.{limit} Of the budgets replayed this "
                "is where the rules differ most at equal cost.",
                "matched_cost",
                [key_of(row, "advisory_budget")],
                f"advisory {signed(row['delta'])} points{interval(row, 'delta')} at "
                f"{said(row['advisory_budget'])}",
            )
        )
    if better or worse:
        parts = [
            f"{name} is better {count_of(count, len(findings))}"
            for name, count in (("advisory", better), ("strict", worse))
            if count
        ]
        summary = (
            f"Where they differ most at equal cost, {' and '.join(parts)}; "
            "the interval excludes zero there."
        )
    else:
        summary = "At equal cost no interval excludes that the rules do not differ."
    return topic("Which rule is better at the same cost?", summary, findings)
