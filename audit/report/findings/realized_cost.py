"""What changes when realized cost is compared instead of B?"""

from collections.abc import Sequence

from audit.report.data import Row, by_archive
from audit.report.findings.shared import (
    COMPARABLE_COST,
    CONVERGED_POINTS,
    Finding,
    Topic,
    contains_zero,
    count_of,
    interval_words,
    key_of,
    topic,
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
from audit.text import capital
from audit.units import Unit


def realized_cost(
    comparisons: Sequence[Row],
    interpolation: Sequence[Row],
    *,
    unit: Unit = TOKENS,
) -> Topic | None:
    """Whether a small advisory budget scores higher than a larger strict one at no more cost."""
    findings = []
    beaten = clear = 0
    archives = by_archive(comparisons)
    for archive, rows in archives.items():
        larger = [row for row in rows if row["strict_budget"] > row["advisory_budget"]]
        better = [
            row
            for row in larger
            if row["delta"] > 0
            and row["cost_ratio"] is not None
            and row["cost_ratio"] <= COMPARABLE_COST
        ]
        if better:
            row = max(better, key=lambda row: (row["delta"], -row["advisory_budget"]))
            beaten += 1
            clear += contains_zero(row, "delta") is False
            findings.append(_better(row, unit))
        else:
            sentence = (
                "No advisory budget scores higher than a larger strict budget at a lower or "
                f"comparable mean cost (ratio up to {number(COMPARABLE_COST)})."
            )
            short = "no advisory budget beats a larger strict one at its cost"
            findings.append(Finding(archive, sentence, "cost_comparisons", short=short))
        near = [
            row
            for row in larger
            if contains_zero(row, "delta")
            and abs(row["delta"]) < CONVERGED_POINTS
            and row["cost_ratio_high"] is not None
            and row["cost_ratio_high"] < 1
        ]
        if near:
            row = min(near, key=lambda row: (row["cost_ratio"], row["strict_budget"]))
            findings.append(_cheaper(row, unit))
        between = [row for row in interpolation if row["archive"] == archive]
        if between:
            row = min(between, key=lambda row: row["advisory_budget"])
            findings.append(_on_the_line(row, unit))
    summary = _summary(beaten, clear, len(archives))
    return topic("What changes when realized cost is compared instead of B?", summary, findings)


def _summary(beaten: int, clear: int, archives: int) -> str:
    """In how many archives a smaller advisory budget is better, and in how many that is sure."""
    if not beaten:
        return "No smaller advisory budget beats a larger strict one without paying more."
    where = capital(count_of(beaten, archives))
    sure = f"; {count_of(clear, archives)} the accuracy interval excludes zero"
    return (
        f"{where} a smaller advisory budget beats a larger strict one without paying more"
        f"{'' if clear == beaten else sure}."
    )


def _better(row: Row, unit: Unit) -> Finding:
    """A smaller advisory budget with a higher accuracy than a larger strict one."""
    advisory, strict = (budget_name(row[f"{rule}_budget"], unit) for rule in ("advisory", "strict"))
    cost = {
        True: "that cost interval contains zero, so a lower cost is not shown",
        False: "that cost interval has no zero in it",
        None: "there is no cost interval",
    }[contains_zero(row, "cost_difference")]
    return Finding(
        row["archive"],
        f"Advisory at B = {advisory} reaches {number(row['advisory_accuracy'])} % for "
        f"{amount(row['advisory_cost'], unit)} on average; strict at the larger B = {strict} "
        f"reaches {number(row['strict_accuracy'])} % for {amount(row['strict_cost'], unit)}. "
        f"Accuracy {signed(row['delta'])} points{interval(row, 'delta')}: "
        f"{interval_words(row, noun='difference')}. "
        f"Cost {signed_amount(row, 'cost_difference', unit)}: {cost}.",
        "cost_comparisons",
        [key_of(row, "advisory_budget", "strict_budget")],
        f"advisory {advisory} beats strict {strict} by {number(row['delta'])} points",
    )


def _cheaper(row: Row, unit: Unit) -> Finding:
    """A smaller advisory budget that costs less than a larger strict one and may be as good."""
    advisory, strict = (budget_name(row[f"{rule}_budget"], unit) for rule in ("advisory", "strict"))
    return Finding(
        row["archive"],
        f"Advisory at B = {advisory} spends {number(row['cost_ratio'])}"
        f"{interval(row, 'cost_ratio')} times the cost of strict at B = {strict}, with an accuracy "
        f"difference of {signed(row['delta'])} points{interval(row, 'delta')}: "
        f"{interval_words(row, noun='difference')}, and does not show that the two are equivalent.",
        "cost_comparisons",
        [key_of(row, "advisory_budget", "strict_budget")],
        f"advisory {advisory} pays {number(row['cost_ratio'])} of strict {strict}",
    )


def _on_the_line(row: Row, unit: Unit) -> Finding:
    """The smallest advisory budget against the straight line between two strict ones."""
    advisory, left, right = (
        budget_name(row[f"{name}_budget"], unit) for name in ("advisory", "left", "right")
    )
    side = "above" if row["delta"] > 0 else "below"
    distance = f"{number(abs(row['delta']))} points {side}" if row["delta"] else "on"
    return Finding(
        row["archive"],
        f"At its mean cost, advisory {advisory} lies {distance} the straight line between strict "
        f"{left} and {right} ({signed(row['delta'])}{interval(row, 'delta')}); "
        f"{interval_words(row, noun='difference')}. "
        "A strict curve that bends between those points would change this.",
        "interpolation",
        [key_of(row, "advisory_budget")],
        f"{signed(row['delta'])} points against the straight line at {advisory}",
    )
