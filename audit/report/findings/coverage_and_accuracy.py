"""Where do coverage and accuracy part?"""

from collections.abc import Sequence

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
from audit.report.wording import TOKENS, budget_name, interval, number, signed
from audit.units import Unit


def coverage_and_accuracy(
    main: Sequence[Row], selectors: Sequence[Row], *, unit: Unit = TOKENS
) -> Topic | None:
    """Where a larger pool holds more correct answers and a selector returns fewer."""
    findings = []
    losing = clear = 0
    archives = by_archive(main)
    for archive, rows in archives.items():
        gains = {row["budget"]: row["delta_coverage"] for row in rows}
        losses = [
            row
            for row in selectors
            if row["archive"] == archive and row["delta"] < 0 and gains.get(row["budget"], 0) > 0
        ]
        if losses:
            # The clearest loss stands for the others: an interval without zero first, then size.
            losses.sort(
                key=lambda row: (
                    contains_zero(row, "delta") is not False,
                    row["delta"],
                    row["budget"],
                    row["selector"],
                )
            )
            losing += 1
            clear += contains_zero(losses[0], "delta") is False
            findings.append(_loss(losses, gains[losses[0]["budget"]], unit))
        findings.append(_gap(max(rows, key=lambda row: row["gap_change"]), unit))
    where, sure = (count_of(count, len(archives)) for count in (losing, clear))
    summary = (
        f"A selector returns fewer correct answers from pools that hold more {where}; "
        + (f"the interval excludes zero {sure}." if clear else "no such interval excludes zero.")
        if losing
        else "More candidates never lowered accuracy."
    )
    return topic("Where do coverage and accuracy part?", summary, findings)


def _loss(losses: Sequence[Row], gain: float, unit: Unit) -> Finding:
    """A selector that returns fewer correct answers where coverage rises; others are counted."""
    row, others = losses[0], len(losses) - 1
    budget = budget_name(row["budget"], unit)
    pairs = "does one other pair" if others == 1 else f"do {others:,} other pairs"
    also = f" So {pairs} of budget and selector." if others else ""
    return Finding(
        row["archive"],
        f"At B = {budget} the selector {row['selector']} loses accuracy ({signed(row['delta'])} "
        f"points{interval(row, 'delta')}) while coverage rises by {number(gain)}; "
        f"{interval_words(row)}.{also}",
        "selectors",
        [key_of(loss, "budget", "selector") for loss in losses],
        f"{row['selector']} {signed(row['delta'])} points at {budget} while coverage rises",
    )


def _gap(row: Row, unit: Unit) -> Finding:
    """The budget at which coverage outruns the primary selector most."""
    budget, gap = budget_name(row["budget"], unit), number(row["gap_change"])
    sentence, short = (
        (
            f"Coverage outruns the primary selector most at B = {budget}: coverage "
            f"{signed(row['delta_coverage'])}, accuracy {signed(row['delta'])}, so the gap between "
            f"what the pool holds and what is returned widens by {gap} points.",
            f"the gap widens by {gap} points at {budget}",
        )
        if row["gap_change"] > 0
        else (
            "At no budget does coverage rise more than the primary selector's accuracy.",
            "the gap never widens",
        )
    )
    return Finding(row["archive"], sentence, "main", [key_of(row, "budget")], short)
