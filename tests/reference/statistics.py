"""Quantiles and weighted ratios; sums stay integers until the last division."""

import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Row = dict[str, Any]


def quantile(values: Sequence[Any], level: Fraction) -> float | None:
    """The quantile with linear interpolation, None of nothing."""
    if not values:
        return None
    ranked = sorted(values)
    place = (len(ranked) - 1) * level
    left = math.floor(place)
    right = min(left + 1, len(ranked) - 1)
    return float(ranked[left] + (ranked[right] - ranked[left]) * float(place - left))


def bounds(values: Sequence[Any]) -> tuple[float | None, float | None]:
    """The 95 % interval of replicate values."""
    return quantile(values, Fraction(25, 1000)), quantile(values, Fraction(975, 1000))


def dot(weights: list[int], values: list[int]) -> int:
    """A weighted sum of integers."""
    return sum(map(operator.mul, weights, values))


def minus(left: list[int] | None, right: list[int] | None) -> list[int] | None:
    """The differences, problem by problem; nothing where a side needs labels that are missing."""
    if left is None or right is None:
        return None
    return [a - b for a, b in zip(left, right, strict=True)]


def ratios(
    weights: list[list[int]], above: list[int], below: list[int], scale: int = 1
) -> list[Fraction]:
    """The ratio of two sums over problems in each replicate that drew any of them."""
    return [Fraction(scale * dot(w, above), dot(w, below)) for w in weights if sum(w) > 0]


def estimate(
    name: str,
    weights: list[list[int]],
    above: list[int] | None,
    below: list[int],
    scale: int = 1,
) -> Row:
    """A ratio of two sums over problems and its interval, without replicates of no problem."""
    if above is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    values = [scale * dot(w, above) / dot(w, below) for w in weights if sum(w) > 0]
    low, high = bounds(values)
    return {name: scale * sum(above) / sum(below), f"{name}_low": low, f"{name}_high": high}


def variance(values: Sequence[Fraction]) -> Fraction | None:
    """The exact variance about the mean with divisor count - 1, None below two values."""
    count = len(values)
    if count < 2:
        return None
    unit = math.lcm(*(value.denominator for value in values))
    parts = [value.numerator * (unit // value.denominator) for value in values]
    squares = count * sum(part * part for part in parts) - sum(parts) ** 2
    return Fraction(squares, count * (count - 1) * unit * unit)
