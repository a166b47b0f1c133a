"""What published values say of one another, without any data: identities, whole counts, bounds."""

import math
import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
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


class Identity(NamedTuple):
    """A comparison of published values: in words, the values, and whether it can hold."""

    text: str
    values: tuple[Any, ...]
    holds: bool
    # The value that others give, where it is one side of an equation.
    given: Any = None


class _Names(dict[str, Any]):
    """What the names in a comparison mean in one row of a table; it remembers what was taken."""

    def __init__(self, values: Sequence[Any], key: dict[str, Any], row: dict[str, Any]) -> None:
        super().__init__(key=SimpleNamespace(**key), mean=_mean)
        self._all, self._key, self._row = values, key, row
        self._taken: list[Any] = []
        self._raised: int | None = None

    def read(self, line: str) -> Identity:
        """Return a comparison and whether it can hold, however its values were rounded."""
        sides, slack = self._evaluate(line), SLACK
        values = tuple(self._taken)
        for raised in range(len(values)):
            moved = self._evaluate(line, raised)
            slack += sum(abs(new - old) for new, old in zip(moved, sides, strict=True))
        holds = all(left <= right + slack for left, right in pairwise(sides))
        is_equation = " == " in line
        holds = holds and (not is_equation or sides[1] <= sides[0] + slack)
        return Identity(line, values, holds, values[0] if is_equation and values[1:] else None)

    def _evaluate(self, line: str, raised: int | None = None) -> list[float]:
        """Compute the sides of a comparison, with value number `raised` half a digit higher."""
        self._taken, self._raised = [], raised
        # The sides are Python's own expressions.
        return [eval(side, {"__builtins__": {}}, self) for side in re.split(" [=<]= ", line)]

    def __missing__(self, name: str) -> Any:
        """Return a column of the row, or all columns of another table."""
        return self.take(self._row[name]) if name in self._row else _Columns(self, name)

    def take(self, value: Any) -> float:
        """Return a value, or the most that it may have been, and remember it."""
        half = 0.5 * 10**-value.decimals if len(self._taken) == self._raised else 0
        self._taken.append(value)
        return value.published + half

    def others(self, table: str, column: str) -> list[Any]:
        """Return the values of another table in rows with the same archive, budget and selector."""
        key = self._key
        if table in AT_BUDGET:
            budget = key.get(AT_BUDGET[table])
            table, key = "main", {"archive": key.get("archive"), "budget": budget}
        return [
            value
            for value in self._all
            if (value.table, value.column) == (table, column)
            and all(value.key.get(name, part) == part for name, part in key.items())
            # What the row does not tell apart would be several rows.
            and (table in PARTED or value.key.keys() <= key.keys())
        ]


class _Columns:
    """The columns of another table, as attributes."""

    def __init__(self, names: _Names, table: str) -> None:
        self._names, self._table = names, table

    def __getattr__(self, column: str) -> Any:
        """Return the one value of a column, or all of them where rows are parts."""
        found = self._names.others(self._table, column)
        if len(found) != 1 and self._table not in PARTED:
            raise AttributeError(column)
        taken = [self._names.take(value) for value in found]
        return taken if self._table in PARTED else taken[0]


def _mean(parts: Sequence[float], count: int) -> float:
    """Return the mean of so many numbers."""
    if len(parts) != count:
        raise AttributeError("a part was not published")
    return sum(parts) / count


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
                # A value that was not published leaves its comparisons out.
                with suppress(AttributeError, TypeError):
                    identity = _Names(values, dict(parts), row).read(line)
                    yield identity._replace(text=f"{table}: {line}")
