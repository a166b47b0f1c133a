"""Check published values against one another, without data: equations, bounds, whole counts."""

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
# A row with two budgets refers by these names to rows of `main`, at the budget of this column.
AT_BUDGET = {"advisory": "advisory_budget", "strict": "strict_budget"}
# Tables whose several rows are averaged.
AVERAGED = ("by_competition", "length_strata")
# A column of the row, or TABLE.COLUMN of another table, but no function name.
NAME = re.compile(r"[a-z]\w*(?:\.\w+)?(?![\w.(])")


class Identity(NamedTuple):
    """A comparison of published values: its text, the values, and whether it can hold."""

    text: str
    values: tuple[Any, ...]
    holds: bool
    # The value on the left side of an equation, which the other values determine.
    given: Any = None


class _NotPublished(Exception):
    """The error of a comparison that needs a value missing from the file."""


def find_identities(values: Sequence[Any]) -> list[Identity]:
    """Check the equations, bounds and whole counts whose values are all in a published file."""
    return [*_check_counts(values), *_check_comparisons(values)]


def count_replays(value: Any) -> int | None:
    """Return the number of replays or problems behind a percentage; None for other values."""
    return WHOLE.get((value.table, value.column))


def _check_counts(values: Sequence[Any]) -> Iterator[Identity]:
    """Check that each percentage can be a whole count of its replays or problems."""
    for value in values:
        if (count := count_replays(value)) is not None:
            whole, half = value.published * count / 100, 0.5 * 10**-value.decimals * count / 100
            holds = math.floor(whole + half + SLACK) >= whole - half - SLACK
            yield Identity(f"{value.column} is a whole count of {count:,}", (value,), holds)


def _check_comparisons(values: Sequence[Any]) -> Iterator[Identity]:
    """Check the equations and bounds of identities.toml in every row that they apply to."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for value in values:
        rows.setdefault((value.table, *sorted(value.key.items())), {})[value.column] = value
    for (table, *parts), row in rows.items():
        for where, lines in DECLARED["tables"].items():
            name, *fixed = where.split()
            if name != table or (fixed and (fixed[0], int(fixed[1])) not in parts):
                continue
            for line in lines:
                if identity := _check_line(line, values, dict(parts), row):
                    yield identity._replace(text=f"{table}: {line}")


def _check_line(
    line: str, values: Sequence[Any], key: dict[str, Any], row: dict[str, Any]
) -> Identity | None:
    """Check one equation or bound, allowing for rounding; return None if a value is missing."""
    taken: list[Any] = []

    def index_column(name: re.Match[str]) -> str:
        """Replace a column name by Python that indexes the list of published numbers."""
        table, _, column = name[0].rpartition(".")
        if table == "key":
            return str(key[column])
        found = _find_values(values, key, table, column) if table else [row.get(column)]
        if None in found or (len(found) != 1 and table not in AVERAGED):
            raise _NotPublished
        taken.extend(found)
        places = [f"numbers[{n}]" for n in range(len(taken) - len(found), len(taken))]
        return f"[{', '.join(places)}]" if table in AVERAGED else places[0]

    def evaluate(numbers: Sequence[float]) -> list[float]:
        names = {"__builtins__": {}, "mean": _average, "numbers": numbers}
        return [eval(side, names) for side in sides]

    try:
        sides = [NAME.sub(index_column, side) for side in re.split(" [=<]= ", line)]
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


def _find_values(values: Sequence[Any], key: dict[str, Any], table: str, column: str) -> list[Any]:
    """Find the values of a column of another table, in rows with the same keys."""
    if table in AT_BUDGET:
        key = {"archive": key.get("archive"), "budget": key.get(AT_BUDGET[table])}
        table = "main"
    return [
        value
        for value in values
        if (value.table, value.column) == (table, column)
        and all(value.key.get(name, part) == part for name, part in key.items())
        # A value with more keys than this row would match several rows.
        and (table in AVERAGED or value.key.keys() <= key.keys())
    ]


def _average(parts: Sequence[float], count: int) -> float:
    """Return the mean; raise _NotPublished unless there are `count` numbers."""
    if len(parts) != count:
        raise _NotPublished
    return sum(parts) / count
