"""What published values say of one another, without any data: identities, whole counts, bounds."""

import math
import re
import tomllib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

DECLARED = tomllib.loads(Path(__file__).with_name("identities.toml").read_text(encoding="utf-8"))
WHOLE = {
    (table, column): int(count)
    for count, lines in DECLARED["whole"].items()
    for table, *columns in map(str.split, lines)
    for column in columns
}
SLACK = 1e-9
# Which row of `main` a row with two budgets means by these names.
AT_BUDGET = {"advisory": "advisory_budget", "strict": "strict_budget"}
# Tables of which a mean is taken over several rows.
PARTED = ("by_competition", "length_strata")
# A column of the row, or of another table; a name before a parenthesis is a function's.
NAME = re.compile(r"[a-z]\w*(?:\.\w+)?(?![\w.(])")


class Identity(NamedTuple):
    """A comparison of published values: in words, the values, and whether it can hold."""

    text: str
    values: tuple[Any, ...]
    holds: bool
    # The value that others give, where it is one side of an equation.
    given: Any = None


class _NotPublished(Exception):
    """A comparison needs a value that is not in the file."""


def find_identities(values: Sequence[Any]) -> list[Identity]:
    """Return what holds, or should, between the values of a published file."""
    return [*_whole_counts(values), *_comparisons(values)]


def replays_of(value: Any) -> int | None:
    """Return of how many replays, or problems, a value is a percentage; None where of none."""
    return WHOLE.get((value.table, value.column))


def _whole_counts(values: Sequence[Any]) -> Iterator[Identity]:
    for value in values:
        if (count := replays_of(value)) is not None:
            whole, half = value.published * count / 100, 0.5 * 10**-value.decimals * count / 100
            holds = math.floor(whole + half + SLACK) >= whole - half - SLACK
            yield Identity(f"{value.column} is a whole count of {count:,}", (value,), holds)


def _comparisons(values: Sequence[Any]) -> Iterator[Identity]:
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for value in values:
        rows.setdefault((value.table, *sorted(value.key.items())), {})[value.column] = value
    for (table, *parts), row in rows.items():
        for where, lines in DECLARED["tables"].items():
            name, *fixed = where.split()
            if name != table or (fixed and (fixed[0], int(fixed[1])) not in parts):
                continue
            for line in lines:
                if identity := _compare(line, values, dict(parts), row):
                    yield identity._replace(text=f"{table}: {line}")


def _compare(
    line: str, values: Sequence[Any], key: dict[str, Any], row: dict[str, Any]
) -> Identity | None:
    """Return a comparison and whether it can hold, however its values were rounded."""
    taken: list[Any] = []

    def place(name: re.Match[str]) -> str:
        """Return Python for a column: its place among the published numbers."""
        table, _, column = name[0].rpartition(".")
        if table == "key":
            return str(key[column])
        found = _others(values, key, table, column) if table else [row.get(column)]
        if None in found or (len(found) != 1 and table not in PARTED):
            raise _NotPublished
        taken.extend(found)
        places = [f"numbers[{n}]" for n in range(len(taken) - len(found), len(taken))]
        return f"[{', '.join(places)}]" if table in PARTED else places[0]

    def evaluate(numbers: Sequence[float]) -> list[float]:
        names = {"__builtins__": {}, "mean": _mean, "numbers": numbers}
        return [eval(side, names) for side in sides]

    try:
        sides = [NAME.sub(place, side) for side in re.split(" [=<]= ", line)]
        published = [value.published for value in taken]
        found, slack = evaluate(published), SLACK
    except _NotPublished:
        return None
    for n, value in enumerate(taken):
        raised = [*published]
        raised[n] += 0.5 * 10**-value.decimals
        slack += sum(abs(new - old) for new, old in zip(evaluate(raised), found, strict=True))
    is_equation = " == " in line
    holds = all(left <= right + slack for left, right in pairwise(found))
    holds = holds and (not is_equation or found[1] <= found[0] + slack)
    return Identity(line, tuple(taken), holds, taken[0] if is_equation and taken[1:] else None)


def _others(values: Sequence[Any], key: dict[str, Any], table: str, column: str) -> list[Any]:
    """Return the values of another table in rows with the same archive, budget and selector."""
    if table in AT_BUDGET:
        key = {"archive": key.get("archive"), "budget": key.get(AT_BUDGET[table])}
        table = "main"
    return [
        value
        for value in values
        if (value.table, value.column) == (table, column)
        and all(value.key.get(name, part) == part for name, part in key.items())
        # What the row does not tell apart would be several rows.
        and (table in PARTED or value.key.keys() <= key.keys())
    ]


def _mean(parts: Sequence[float], count: int) -> float:
    """Return the mean of so many numbers."""
    if len(parts) != count:
        raise _NotPublished
    return sum(parts) / count
