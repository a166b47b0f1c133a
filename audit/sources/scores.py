"""Scores (columns by prefix, numbers picked from lists) and sums of mapped columns."""

import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from audit.errors import AuditError
from audit.sources.canonical import LOGPROB_SCORE, SCORE_PREFIX, find_column
from audit.sources.files import SourceFile, excerpt
from audit.sources.formats import is_number

# How one number is taken from a list of scores, one for each step.
OF_LIST: dict[str, Callable[[list[float]], float]] = {
    "last": lambda scores: scores[-1],
    "min": min,
    "mean": lambda scores: math.fsum(scores) / len(scores),
    "prod": math.prod,
}
OF_LIST_PATH = re.compile(r"(.+)\[(\w+)\]")
LOGPROBS = "log-probabilities are the column mean_logprob; pass --map mean_logprob={}"
NAMES = "a score's name is lower-case letters, digits and _"
# Columns of which two may be added.
COUNTS = ("prompt_tokens", "cached_tokens", "completion_tokens")
ADDED = (*COUNTS, "money", "seconds")


def check_mapped_score(column: str, path: str) -> None:
    """Refuse --map of a score with an invalid name."""
    if column == LOGPROB_SCORE:
        raise AuditError(f"--map {column}={path}: {LOGPROBS.format(path)}")
    if column.startswith(SCORE_PREFIX) and find_column(column) is None:
        raise AuditError(f"--map {column}={path}: {NAMES}, as in score_prm")


def check_own_score(name: str, file: SourceFile) -> None:
    """Refuse a file whose column of scores has an invalid name."""
    if name == LOGPROB_SCORE:
        raise file.error(f"column {name}: {LOGPROBS.format(name)}")
    if find_column(name) is None:
        raise file.error(f"column {excerpt(name)}: {NAMES}; pass --map score_NAME={name}")


def split_list(column: str, path: str) -> tuple[str, Callable[[Any], Any] | None]:
    """Split `PATH[last]` into the path and a function from a list to one number, or None."""
    match = OF_LIST_PATH.fullmatch(path) if column.startswith(SCORE_PREFIX) else None
    if match is None:
        return path, None
    if match[2] not in OF_LIST:
        known = ", ".join(f"[{name}]" for name in OF_LIST)
        what = f"no [{match[2]}] of a list; there are {known}"
        raise AuditError(f"--map {column}={path}: {what}")
    take, is_last = OF_LIST[match[2]], match[2] == "last"

    def of_list(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        if not value or (None in value and not is_last):
            return None
        # What is no number is left for the column's rule to refuse.
        return take(value) if is_last or all(map(is_number, value)) else value

    return match[1], of_list


def split_sum(column: str, path: str) -> list[str]:
    """Split a sum such as `usage.output_tokens+usage.reasoning_tokens` into its paths."""
    # A pattern after `~` may hold a + of its own.
    parts = [path] if "~" in path else path.split("+")
    return parts if column in ADDED and len(parts) > 1 and all(parts) else [path]


def add_values(column: str, values: Sequence[Any]) -> Any:
    """Return the sum of the present values, or the first invalid one for a later rule to refuse."""
    total: int | float | None = None
    for value in values:
        number = value
        if isinstance(value, str):
            number = None
            with suppress(ValueError):
                number = int(value) if value.strip().isdecimal() else float(value)
        if value is None:
            continue
        if not is_number(number) or number < 0 or (column in COUNTS and number % 1):
            return value
        total = number if total is None else total + number
    return total
