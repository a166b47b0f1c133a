"""Rows compared cell by cell."""

import math


def same(left, right):
    if isinstance(left, float) or isinstance(right, float):
        if left is None or right is None:
            return left is right
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)
    return left == right and type(left) is type(right)


def differences(expected, actual, columns):
    """The first few cells that differ; columns are those of the reference."""
    expected, actual = (
        [{column: row[column] for column in columns} for row in rows] for rows in (expected, actual)
    )
    if len(expected) != len(actual):
        yield f"{len(expected)} rows expected, {len(actual)} found"
    for number, (want, have) in enumerate(zip(expected, actual, strict=False)):
        for column in columns:
            if not same(want[column], have[column]):
                yield f"row {number} {want}: {column} is {have[column]!r}"


def sort_key(row):
    """What rows are sorted by: all of their values, nulls first."""
    return [(value is not None, value) for value in row.values()]
