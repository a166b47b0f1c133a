"""The findings in words: pure functions over table rows, each sentence with the rows behind it."""

from collections.abc import Sequence

from audit.report.findings.control_checks import control_checks
from audit.report.findings.convergence import convergence
from audit.report.findings.coverage_and_accuracy import coverage_and_accuracy
from audit.report.findings.dominant_effect import dominant_effect
from audit.report.findings.grading import grading
from audit.report.findings.matched_cost import matched_cost
from audit.report.findings.realized_cost import realized_cost
from audit.report.findings.shared import Finding, Row, Topic, interval_words
from audit.report.findings.truncation import truncation
from audit.report.findings.unfinished_prefixes import unfinished_prefixes

__all__ = [
    "READ",
    "Finding",
    "Topic",
    "all_topics",
    "control_checks",
    "convergence",
    "coverage_and_accuracy",
    "dominant_effect",
    "grading",
    "headline",
    "interval_words",
    "matched_cost",
    "realized_cost",
    "truncation",
    "unfinished_prefixes",
]

# The tables that the sentences are made from.
READ = (
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
    tables: dict[str, list[Row]], primary: str, archives_with_references: Sequence[str] = ()
) -> list[Topic]:
    """Every topic that the tables support, in reading order; rows without labels say nothing."""
    main = _graded(tables.get("main", []))
    topics = [
        dominant_effect(main, tables.get("transitions", []), primary),
        matched_cost(tables.get("matched_cost", [])),
        convergence(main),
        realized_cost(_graded(tables.get("cost_comparisons", [])), tables.get("interpolation", [])),
        coverage_and_accuracy(main, tables.get("selectors", [])),
        unfinished_prefixes(tables.get("prefix_cost", [])),
        truncation(tables.get("truncation_floor", [])),
        grading(
            tables.get("grading", []), tables.get("grade_repairs", []), archives_with_references
        ),
        control_checks(tables.get("controls", [])),
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
