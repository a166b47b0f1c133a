"""Settings whose primary selector can pick something: one that never can is refused."""

from typing import Any

from tests import reference

Row = dict[str, Any]


def able(rows: list[Row], settings: Row) -> Row:
    """The settings, with another primary selector where theirs can pick nothing and one can."""
    attempts = reference.read_attempts(rows, "wrong", answer=settings.get("answer", "boxed"))
    asked = settings.get("primary_selector", "majority")
    for name in (asked, *settings.get("selectors", reference.SELECTORS)):
        if any(reference.ballot(attempt, name) is not None for attempt in attempts):
            return {**settings, "primary_selector": name}
    return settings
