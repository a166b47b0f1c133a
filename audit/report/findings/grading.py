"""Does the grading decide the result?"""

from collections.abc import Sequence

from audit.report.data import Row, by_archive
from audit.report.findings.shared import Finding, Topic, key_of, topic
from audit.report.wording import TOKENS, budget_name, number
from audit.text import plural
from audit.units import Unit


def grading(
    grades: Sequence[Row],
    repairs: Sequence[Row],
    archives_with_references: Sequence[str] = (),
    *,
    unit: Unit = TOKENS,
) -> Topic | None:
    """How far a repair of inconsistent labels moves the change."""
    findings = []
    largest = 0.0
    repaired = {row["archive"]: row for row in repairs}
    for archive, rows in by_archive(grades).items():
        row = max(rows, key=lambda row: abs(row["change"]))
        largest = max(largest, abs(row["change"]))
        groups, adjusted, resolved = (
            repaired.get(archive, {}).get(name, 0)
            for name in ("conflict_groups", "adjusted_labels", "resolved_groups")
        )
        most = f"{number(abs(row['change']), 3)} points"
        short = f"a repair moves it by at most {most}"
        if archive not in archives_with_references:
            short = "no references to repair with"
            sentence = (
                "No accepted references were loaded for its problems, so no label can be repaired; "
                f"{_conflicts(groups)}."
            )
        elif adjusted == 0:
            sentence = f"The repair adjusts no label; {_conflicts(groups)}."
        else:
            settled = f", {resolved:,} of them settled" if groups else ""
            sentence = (
                f"The repair adjusts {plural(adjusted, 'label')}; {_conflicts(groups)}{settled}; "
                f"the change moves by at most {most} (at B = {budget_name(row['budget'], unit)}). "
                "It cannot find a wrong answer labelled correct."
            )
        findings.append(Finding(archive, sentence, "grading", [key_of(row, "budget")], short))
    summary = (
        f"Repairing labels moves a change by at most {number(largest, 3)} points."
        if largest
        else "Repairing labels moves no change."
        if archives_with_references
        else "That cannot be told: no accepted references were loaded."
    )
    return topic("Does the grading decide the result?", summary, findings)


def _conflicts(groups: int) -> str:
    if groups == 0:
        return "no answer carries both labels"
    return (
        "1 answer carries both labels" if groups == 1 else f"{groups:,} answers carry both labels"
    )
