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
        summary = "A control fails: do not use these numbers."
        sentence = "; ".join(
            f"{row['control']} with {row['selector']}: {row['disagreements']:,} of "
            f"{row['comparisons']:,} comparisons disagree"
            for row in failed
        )
    else:
        summary = "Yes, without exception."
        sentence = (
            f"Where both rules must select the same attempt they do, in all {total:,} comparisons. "
            "This checks the pairing; it says nothing about equal cost."
        )
    keys = [key_of(row, "control", "selector") for row in failed]
    return Topic(
        "Do the controls hold?",
        summary,
        [
            Finding(
                "all archives",
                capital(sentence) + ("." if failed else ""),
                "controls",
                keys,
                "a control fails" if failed else f"no disagreement in {total:,} comparisons",
            )
        ],
    )
