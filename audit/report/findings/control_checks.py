"""Do the controls hold?"""

from collections.abc import Sequence

from audit.report.data import Row
from audit.report.findings.shared import Finding, Topic, key_of
from audit.text import capital


def control_checks(controls: Sequence[Row]) -> Topic | None:
    """Whether the two controls, which must agree everywhere, do."""
    if not controls:
        return None
    failed = [row for row in controls if row["disagreements"]]
    total = sum(row["comparisons"] for row in controls)
    if failed:
        summary, short = "A control fails: do not use these numbers.", "a control fails"
        disagree = "; ".join(
            f"{row['control']} with {row['selector']}: {row['disagreements']:,} of "
            f"{row['comparisons']:,} comparisons disagree"
            for row in failed
        )
        sentence = f"{capital(disagree)}."
    else:
        summary, short = "Yes, without exception.", f"no disagreement in {total:,} comparisons"
        sentence = (
            f"Where both rules must select the same attempt they do, in all {total:,} comparisons. "
            "This checks the pairing; it says nothing about equal cost."
        )
    keys = [key_of(row, "control", "selector") for row in failed]
    finding = Finding("all archives", sentence, "controls", keys, short)
    return Topic("Do the controls hold?", summary, [finding])
