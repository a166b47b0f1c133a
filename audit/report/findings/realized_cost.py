"""What changes when realized cost is compared instead of B?"""

from collections.abc import Sequence
from functools import partial

from audit.report.findings.shared import (
    COMPARABLE_COST,
    CONVERGED_POINTS,
    Finding,
    Row,
    Topic,
    by_archive,
    capital,
    contains_zero,
    count_of,
    interval_words,
    key_of,
)
from audit.report.wording import (
    TOKENS,
    amount,
    budget_name,
    interval,
    number,
    signed,
    signed_amount,
)
from audit.units import Unit


def realized_cost(
    comparisons: Sequence[Row],
    interpolation: Sequence[Row],
    comparable: float = COMPARABLE_COST,
    *,
    unit: Unit = TOKENS,
) -> Topic | None:
    """Whether a small advisory budget scores higher than a larger strict one at no more cost."""
    said = partial(budget_name, unit=unit)
    findings = []
    beaten: set[str] = set()
    clear: set[str] = set()
    archives = by_archive(comparisons)
    for archive, rows in archives.items():
        better = [
            row
            for row in rows
            if row["strict_budget"] > row["advisory_budget"]
            and row["delta"] > 0
            and row["cost_ratio"] is not None
            and row["cost_ratio"] <= comparable
        ]
        if better:
            beaten.add(archive)
            row = max(better, key=lambda row: (row["delta"], -row["advisory_budget"]))
            if contains_zero(row, "delta") is False:
                clear.add(archive)
            zero = contains_zero(row, "cost_difference")
            cost = (
                "that cost interval contains zero, so a lower cost is not shown"
                if zero
                else "that cost interval has no zero in it"
                if zero is False
                else "there is no cost interval"
            )
            findings.append(
                Finding(
                    archive,
                    f"Advisory at B = {said(row['advisory_budget'])} reaches "
                    f"{number(row['advisory_accuracy'])} % for "
                    f"{amount(row['advisory_cost'], unit)} on average; strict at the larger B = "
                    f"{said(row['strict_budget'])} reaches "
                    f"{number(row['strict_accuracy'])} % for {amount(row['strict_cost'], unit)}. "
                    f"Accuracy {signed(row['delta'])} points{interval(row, 'delta')}: "
                    f"{interval_words(row, noun='difference')}. "
                    f"Cost {signed_amount(row, 'cost_difference', unit)}: {cost}.",
                    "cost_comparisons",
                    [key_of(row, "advisory_budget", "strict_budget")],
                    f"advisory {said(row['advisory_budget'])} beats strict "
                    f"{said(row['strict_budget'])} by {number(row['delta'])} points",
                )
            )
        else:
            findings.append(
                Finding(
                    archive,
                    "No advisory budget scores higher than a larger strict budget at a lower or "
                    f"comparable mean cost (ratio up to {number(comparable)}).",
                    "cost_comparisons",
                    short="no advisory budget beats a larger strict one at its cost",
                )
            )
        near = [
            row
            for row in rows
            if row["strict_budget"] > row["advisory_budget"]
            and contains_zero(row, "delta")
            and abs(row["delta"]) < CONVERGED_POINTS
            and row["cost_ratio_high"] is not None
            and row["cost_ratio_high"] < 1
        ]
        if near:
            row = min(near, key=lambda row: (row["cost_ratio"], row["strict_budget"]))
            findings.append(
                Finding(
                    archive,
                    f"Advisory at B = {said(row['advisory_budget'])} spends "
                    f"{number(row['cost_ratio'])}{interval(row, 'cost_ratio')} times the cost of "
                    f"strict at B = {said(row['strict_budget'])}, with an accuracy "
                    f"difference of {signed(row['delta'])} points{interval(row, 'delta')}: "
                    f"{interval_words(row, noun='difference')}, and does not show that the two "
                    "are equivalent.",
                    "cost_comparisons",
                    [key_of(row, "advisory_budget", "strict_budget")],
                    f"advisory {said(row['advisory_budget'])} pays "
                    f"{number(row['cost_ratio'])} of strict {said(row['strict_budget'])}",
                )
            )
        between = sorted(
            (row for row in interpolation if row["archive"] == archive),
            key=lambda row: row["advisory_budget"],
        )
        if between:
            row = between[0]
            side = "above" if row["delta"] > 0 else "below" if row["delta"] < 0 else "on"
            distance = f"{number(abs(row['delta']))} points {side}" if row["delta"] else "on"
            findings.append(
                Finding(
                    archive,
                    f"At its mean cost, advisory {said(row['advisory_budget'])} lies "
                    f"{distance} the straight line between strict "
                    f"{said(row['left_budget'])} and {said(row['right_budget'])} "
                    f"({signed(row['delta'])}{interval(row, 'delta')}); "
                    f"{interval_words(row, noun='difference')}. "
                    "A strict curve that bends between those points would change this.",
                    "interpolation",
                    [key_of(row, "advisory_budget")],
                    f"{signed(row['delta'])} points against the straight line at "
                    f"{said(row['advisory_budget'])}",
                )
            )
    if not findings:
        return None
    where = capital(count_of(len(beaten), len(archives)))
    summary = (
        f"{where} a smaller advisory budget beats a larger strict one without paying more"
        + (
            "."
            if len(clear) == len(beaten)
            else f"; {count_of(len(clear), len(archives))} the accuracy interval excludes zero."
        )
        if beaten
        else "No smaller advisory budget beats a larger strict one without paying more."
    )
    return Topic("What changes when realized cost is compared instead of B?", summary, findings)
