"""What published values say of one another, without any data: identities, whole counts, bounds."""

import ast
import math
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
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


class Range(NamedTuple):
    """All that a number may be, as it was rounded."""

    low: float
    high: float


class Identity(NamedTuple):
    """A comparison of published values: in words, the values, and whether it can hold."""

    text: str
    values: tuple[Any, ...]
    holds: bool
    # The value that others give, where it is one side of an equation.
    given: Any = None


class Absent(Exception):
    """A value that was not published, so that its comparison is skipped."""


def find_identities(values: Sequence[Any]) -> list[Identity]:
    """Return what holds, or should, between the values of a published file."""
    return [*_whole_counts(values), *_comparisons(values)]


def replays_of(value: Any) -> int | None:
    """Return of how many replays, or problems, a value is a percentage; None where of none."""
    return WHOLE.get((value.table, value.column))


def _whole_counts(values: Sequence[Any]) -> Iterator[Identity]:
    for value in values:
        if (count := replays_of(value)) is not None:
            part = _range(value)
            holds = math.floor(part.high * count / 100 + SLACK) >= part.low * count / 100 - SLACK
            yield Identity(f"{value.column} is a whole count of {count:,}", (value,), holds)


def _comparisons(values: Sequence[Any]) -> Iterator[Identity]:
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for value in values:
        key = (value.table, *sorted(value.key.items()))
        rows.setdefault(key, {})[value.column] = value
    for key, row in rows.items():
        table, parts = key[0], key[1:]
        for where, lines in DECLARED["tables"].items():
            name, *fixed = where.split()
            if name != table or (fixed and (fixed[0], int(fixed[1])) not in parts):
                continue
            for line in lines:
                reader = _Reader(values, table, dict(parts), row)
                try:
                    yield reader.read(line)
                except Absent:
                    continue


@cache
def _parsed(line: str) -> ast.Compare:
    comparison = ast.parse(line, mode="eval").body
    assert isinstance(comparison, ast.Compare)
    return comparison


class _Reader:
    """Reads a comparison in one row of a table, and remembers the values that it takes."""

    def __init__(
        self, values: Sequence[Any], table: str, key: dict[str, Any], row: dict[str, Any]
    ) -> None:
        self._all, self._table, self._key, self._row = values, table, key, row
        self._taken: list[Any] = []

    def read(self, line: str) -> Identity:
        """Return the comparison with the values of this row, and whether it can hold."""
        comparison = _parsed(line)
        sides = [self._number(side) for side in (comparison.left, *comparison.comparators)]
        holds = all(
            left.low <= right.high + SLACK
            and (isinstance(sign, ast.LtE) or right.low <= left.high + SLACK)
            for sign, left, right in zip(comparison.ops, sides, sides[1:], strict=False)
        )
        is_given = isinstance(comparison.ops[0], ast.Eq) and len(self._taken) > 1
        given = self._taken[0] if is_given else None
        return Identity(f"{self._table}: {line}", tuple(self._taken), holds, given)

    def _number(self, node: ast.expr) -> Range:
        match node:
            case ast.Constant(value=int(number)):
                return Range(number, number)
            case ast.Name(id=column):
                return self._take(self._row.get(column))
            case ast.Attribute(value=ast.Name(id="key"), attr=column) if column in self._key:
                return Range(self._key[column], self._key[column])
            case ast.Attribute(value=ast.Name(id=table), attr=column):
                return self._take(*self._others(table, column))
            case ast.Call(args=[ast.Attribute(value=ast.Name(id=table), attr=column), count]):
                others = self._others(table, column)
                if len(others) != self._number(count).low:
                    raise Absent
                ranges = [self._take(other) for other in others]
                return Range(*(sum(ends) / len(ranges) for ends in zip(*ranges, strict=True)))
            case ast.BinOp(left=left, op=sign, right=right):
                return _combined(self._number(left), sign, self._number(right))
        raise Absent(ast.unparse(node))

    def _others(self, table: str, column: str) -> list[Any]:
        """Return the values of another table in rows with the same archive, budget and selector."""
        key = self._key
        if table in AT_BUDGET:
            budget = key.get(AT_BUDGET[table])
            table, key = "main", {"archive": key.get("archive"), "budget": budget}
        return [
            value
            for value in self._all
            if value.table == table
            and value.column == column
            and all(value.key.get(name, part) == part for name, part in key.items())
            # What the row does not tell apart would be several rows.
            and (table in PARTED or value.key.keys() <= key.keys())
        ]

    def _take(self, *found: Any) -> Range:
        if len(found) != 1 or found[0] is None:
            raise Absent
        self._taken.append(found[0])
        return _range(found[0])


# Tables of which a mean is taken over several rows.
PARTED = ("by_competition", "length_strata")


def _range(value: Any) -> Range:
    half = 0.5 * 10**-value.decimals
    return Range(value.published - half, value.published + half)


def _combined(left: Range, sign: ast.operator, right: Range) -> Range:
    """Return the sum, difference, product or quotient of two ranges of numbers."""
    if isinstance(sign, ast.Add):
        return Range(left.low + right.low, left.high + right.high)
    if isinstance(sign, ast.Sub):
        return Range(left.low - right.high, left.high - right.low)
    if isinstance(sign, ast.Mult):
        ends = [a * b for a in left for b in right]
    else:
        ends = [a / b for a in left for b in right]
    return Range(min(ends), max(ends))
