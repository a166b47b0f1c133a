"""Which rule is better for the same money?"""

from collections.abc import Sequence

from audit.report.findings.shared import (
    Finding,
    Row,
    Topic,
    by_archive,
    contains_zero,
    count_of,
    interval_words,
    key_of,
)
from audit.report.wording import budget_name, interval, number, signed


def matched_cost(matched: Sequence[Row]) -> Topic | None:
    """Advisory at each budget against the strict budget that costs as much, measured exactly."""
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
                f"Advisory at B = {budget_name(row['advisory_budget'])} costs "
                f"{number(row['advisory_cost'], 0)} tokens on average and reaches "
                f"{number(row['advisory_accuracy'])} %; strict costs as much at B = "
                f"{row['strict_budget']:,} and reaches {number(row['strict_accuracy'])} %: "
                f"{signed(row['delta'])} points{interval(row, 'delta')} for the same money; "
                f"{interval_words(row, noun='difference')}.{limit} Of the budgets replayed this "
                "is where the rules differ most at equal cost.",
                "matched_cost",
                [key_of(row, "advisory_budget")],
                f"advisory {signed(row['delta'])} points{interval(row, 'delta')} at "
                f"{budget_name(row['advisory_budget'])}",
            )
        )
    if not findings:
        return None
    total = len(findings)
    if better or worse:
        parts = [
            f"{name} is better {count_of(count, total)}"
            for name, count in (("advisory", better), ("strict", worse))
            if count
        ]
        summary = (
            f"Where they differ most at equal cost, {' and '.join(parts)}; "
            "the interval excludes zero there."
        )
    else:
        summary = "At equal cost no interval excludes that the rules do not differ."
    return Topic("Which rule is better for the same money?", summary, findings)
