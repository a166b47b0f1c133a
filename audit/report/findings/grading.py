"""Does the grading decide the result?"""

from collections.abc import Sequence
from functools import partial

from audit.report.data import Row, by_archive
from audit.report.findings.shared import Finding, Topic, key_of
from audit.report.wording import TOKENS, budget_name, number
from audit.units import Unit


def grading(
    grades: Sequence[Row],
    repairs: Sequence[Row],
    archives_with_references: Sequence[str] = (),
    *,
    unit: Unit = TOKENS,
) -> Topic | None:
    """How far a repair of inconsistent labels moves the change."""
    said = partial(budget_name, unit=unit)
    findings = []
    largest = 0.0
    repaired = {row["archive"]: row for row in repairs}
    for archive, rows in by_archive(grades).items():
        row = max(rows, key=lambda row: abs(row["change"]))
        largest = max(largest, abs(row["change"]))
        counts = repaired.get(archive)
        groups = counts["conflict_groups"] if counts else 0
        adjusted = counts["adjusted_labels"] if counts else 0
        short = f"a repair moves it by at most {number(abs(row['change']), 3)} points"
        if archive not in archives_with_references:
            short = "no references to repair with"
            sentence = (
                "No accepted references were loaded for its problems, so no label can be repaired; "
                f"{_conflicts(groups)}."
            )
        elif adjusted == 0:
            sentence = f"The repair adjusts no label; {_conflicts(groups)}."
        else:
            resolved = counts["resolved_groups"] if counts else 0
            sentence = (
                f"The repair adjusts {adjusted:,} label{'' if adjusted == 1 else 's'}; "
                f"{_conflicts(groups)}{f', {resolved:,} of them settled' if groups else ''}; "
                f"the change moves by at most "
                f"{number(abs(row['change']), 3)} points (at B = {said(row['budget'])}). "
                "It cannot find a wrong answer labelled correct."
            )
        findings.append(Finding(archive, sentence, "grading", [key_of(row, "budget")], short))
    if not findings:
        return None
    summary = (
        f"Repairing labels moves a change by at most {number(largest, 3)} points."
        if largest
        else "Repairing labels moves no change."
        if archives_with_references
        else "That cannot be told: no accepted references were loaded."
    )
    return Topic("Does the grading decide the result?", summary, findings)


def _conflicts(groups: int) -> str:
    if groups == 0:
        return "no answer carries both labels"
    return (
        "1 answer carries both labels" if groups == 1 else f"{groups:,} answers carry both labels"
    )
