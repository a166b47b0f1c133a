"""The findings in words: pure functions over table rows, each sentence with the rows behind it."""

from collections.abc import Sequence

from audit.report.data import Row
from audit.report.findings.control_checks import control_checks
from audit.report.findings.convergence import convergence
from audit.report.findings.coverage_and_accuracy import coverage_and_accuracy
from audit.report.findings.dominant_effect import dominant_effect
from audit.report.findings.grading import grading
from audit.report.findings.matched_cost import matched_cost
from audit.report.findings.realized_cost import realized_cost
from audit.report.findings.shared import Topic
from audit.report.findings.truncation import truncation
from audit.report.findings.unfinished_prefixes import unfinished_prefixes
from audit.report.wording import TOKENS
from audit.units import Unit

# The tables that the sentences are made from.
FINDING_TABLES = (
    "main",
    "transitions",
    "matched_cost",
    "cost_comparisons",
    "interpolation",
    "selectors",
    "prefix_cost",
    "truncation_floor",
    "grading",
    "grade_repairs",
    "controls",
)


def all_topics(
    tables: dict[str, list[Row]],
    primary: str,
    archives_with_references: Sequence[str] = (),
    unit: Unit = TOKENS,
) -> list[Topic]:
    """Every topic that the tables support, in reading order; rows without labels say nothing."""
    rows = {name: tables.get(name, []) for name in FINDING_TABLES}
    main, compared = (_graded(rows[name]) for name in ("main", "cost_comparisons"))
    topics = [
        dominant_effect(main, rows["transitions"], primary, unit=unit),
        matched_cost(rows["matched_cost"], unit=unit),
        convergence(main, unit=unit),
        realized_cost(compared, rows["interpolation"], unit=unit),
        coverage_and_accuracy(main, rows["selectors"], unit=unit),
        unfinished_prefixes(rows["prefix_cost"], unit=unit),
        truncation(rows["truncation_floor"], unit=unit),
        grading(rows["grading"], rows["grade_repairs"], archives_with_references, unit=unit),
        control_checks(rows["controls"]),
    ]
    return [topic for topic in topics if topic is not None]


def headline(tables: dict[str, list[Row]]) -> str | None:
    """The archive that the page and the terminal begin with: where the two rules differ most."""
    rows = _graded(tables.get("main", []))
    if not rows:
        return None
    return max(rows, key=lambda row: (abs(row["delta"]), -row["budget"]))["archive"]


def _graded(rows: Sequence[Row]) -> list[Row]:
    """The rows of archives that have labels."""
    return [row for row in rows if row["delta"] is not None]
