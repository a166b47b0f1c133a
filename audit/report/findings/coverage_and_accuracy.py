"""Where do coverage and accuracy part?"""

from collections.abc import Sequence
from functools import partial

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
from audit.report.wording import TOKENS, budget_name, interval, number, signed
from audit.units import Unit


def coverage_and_accuracy(
    main: Sequence[Row], selectors: Sequence[Row], *, unit: Unit = TOKENS
) -> Topic | None:
    """Where a larger pool holds more correct answers and a selector returns fewer."""
    said = partial(budget_name, unit=unit)
    findings = []
    losing: set[str] = set()
    clear: set[str] = set()
    archives = by_archive(main)
    for archive, rows in archives.items():
        coverage = {row["budget"]: row for row in rows}
        losses = [
            row
            for row in selectors
            if row["archive"] == archive
            and row["delta"] < 0
            and row["budget"] in coverage
            and coverage[row["budget"]]["delta_coverage"] > 0
        ]
        if losses:
            losing.add(archive)
            # The clearest loss stands for the others: an interval without zero first, then size.
            losses.sort(
                key=lambda row: (
                    contains_zero(row, "delta") is not False,
                    row["delta"],
                    row["budget"],
                    row["selector"],
                )
            )
            row = losses[0]
            if contains_zero(row, "delta") is False:
                clear.add(archive)
            others = len(losses) - 1
            also = f" So do {others:,} other pairs of budget and selector." if others > 1 else ""
            also = " So does one other pair of budget and selector." if others == 1 else also
            findings.append(
                Finding(
                    archive,
                    f"At B = {said(row['budget'])} the selector {row['selector']} loses "
                    f"accuracy ({signed(row['delta'])} points{interval(row, 'delta')}) while "
                    f"coverage rises by {number(coverage[row['budget']]['delta_coverage'])}; "
                    f"{interval_words(row)}.{also}",
                    "selectors",
                    [key_of(found, "budget", "selector") for found in losses],
                    f"{row['selector']} {signed(row['delta'])} points at "
                    f"{said(row['budget'])} while coverage rises",
                )
            )
        widest = max(rows, key=lambda row: row["gap_change"])
        if widest["gap_change"] > 0:
            sentence = (
                f"Coverage outruns the primary selector most at B = "
                f"{said(widest['budget'])}: coverage {signed(widest['delta_coverage'])}, "
                f"accuracy {signed(widest['delta'])}, so the gap between what the pool holds and "
                f"what is returned widens by {number(widest['gap_change'])} points."
            )
        else:
            sentence = "At no budget does coverage rise more than the primary selector's accuracy."
        short = (
            f"the gap widens by {number(max(0, widest['gap_change']))} points at "
            f"{said(widest['budget'])}"
            if widest["gap_change"] > 0
            else "the gap never widens"
        )
        findings.append(Finding(archive, sentence, "main", [key_of(widest, "budget")], short))
    if not findings:
        return None
    if losing:
        summary = (
            f"A selector returns fewer correct answers from pools that hold more "
            f"{count_of(len(losing), len(archives))}; "
            + (
                f"the interval excludes zero {count_of(len(clear), len(archives))}."
                if clear
                else "no such interval excludes zero."
            )
        )
    else:
        summary = "More candidates never lowered accuracy."
    return Topic("Where do coverage and accuracy part?", summary, findings)
