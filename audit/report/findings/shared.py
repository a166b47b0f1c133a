"""What every question shares: a finding, a topic, and the words for intervals and counts."""

from dataclasses import dataclass, field
from typing import Any

from audit.report.data import Row
from audit.report.wording import ends

# Two rules count as converged where the paired change stays below this many points.
CONVERGED_POINTS = 1.5
# A mean cost counts as comparable up to this ratio to the other rule's.
COMPARABLE_COST = 1.05


@dataclass(frozen=True)
class Finding:
    """One sentence about one archive, where to check it, and the same in a few words."""

    archive: str
    sentence: str
    table: str
    keys: list[str] = field(default_factory=list)
    short: str = ""


@dataclass(frozen=True)
class Topic:
    """A question, its answer over all archives in a line, and one or more findings per archive."""

    question: str
    summary: str
    findings: list[Finding]


def topic(question: str, summary: str, findings: list[Finding]) -> Topic | None:
    """The topic, or none where there is nothing to say of any archive."""
    return Topic(question, summary, findings) if findings else None


def contains_zero(row: Row, column: str) -> bool | None:
    """Whether the interval contains zero; None where there is no interval."""
    bounds = ends(row, column)
    return bool(bounds[0] <= 0 <= bounds[1]) if bounds else None


def interval_words(row: Row, noun: str = "change") -> str:
    """What the interval of delta allows one to say; one that contains zero never says equal."""
    zero = contains_zero(row, "delta")
    if zero is None:
        return "there is no interval"
    return f"the interval does not exclude no {noun}" if zero else "the interval excludes zero"


def key_of(row: Row, *columns: str) -> str:
    """The row's place in its table, as a condition of SQL: 2.0 dollars are written 2."""

    def written(value: Any) -> str:
        return f"{value:.9f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)

    return ", ".join(f"{name} = {written(row[name])}" for name in columns)


def count_of(count: int, total: int) -> str:
    """How many archives, in words."""
    if total == 1:
        return "in the one archive" if count else "not in the one archive"
    if count == total:
        return "in both archives" if total == 2 else f"in all {total:,} archives"
    return f"in {count:,} of {total:,} archives" if count else f"in none of the {total:,} archives"
