"""What an attempt costs in a unit, step by step, in whole numbers."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
SCALES = {"completion": 1, "total": 1, "money": 10**9, "seconds": 1000, "steps": 1}
# Columns that are printed in the unit, with the ends of their intervals.
PRINTED = (
    "budget", "advisory_budget", "strict_budget", "left_budget", "right_budget", "cost",
    "strict_cost", "advisory_cost", "other_cost", "cost_difference", "advisory_total",
    "strict_total", "total_difference", "prefix_cost", "advisory_p95", "extra_cost",
    "cumulative_cost", "cost_change", "cost_p95", "wasted", "cost_per_correct",
)  # fmt: skip


def step_cost(step: Mapping[str, Any], unit: str, prices: tuple[Any, Any, Any] | None) -> int:
    """What one step costs; prices are of input, cached input and output, per million tokens."""
    prompt, cached, completion = (
        step.get(name) or 0 for name in ("prompt_tokens", "cached_tokens", "completion_tokens")
    )
    if unit == "completion":
        return completion
    if unit == "total":
        return prompt + completion
    if unit == "steps":
        return 1
    if unit == "seconds":
        return math.floor(1000 * step["seconds"] + 0.5)
    if prices is None:
        return math.floor(1e9 * step["money"] + 0.5)
    i, k, o = (Fraction(str(price)) * 10**6 for price in prices)
    return math.floor((i * (prompt - cached) + k * cached + o * completion + 500) / 1000)


def merged(costs: list[int]) -> list[int]:
    """Steps that cost nothing go to the one before, the first ones to the next; at least 1."""
    found: list[int] = []
    for cost in costs:
        if cost:
            found.append(cost)
    return found or [1]


def prompts_of(steps: list[Mapping[str, Any]], costs: list[int]) -> list[int]:
    """Return the prompt tokens of the merged steps, from those recorded and what each costs."""
    found: list[int] = []
    first = 0
    for step, cost in zip(steps, costs, strict=True):
        prompt = step.get("prompt_tokens") or 0
        if cost:
            found.append(first + prompt)
            first = 0
        elif found:
            found[-1] += prompt
        else:
            first += prompt
    return found or [first]


def printed(row: Row, scale: int) -> Row:
    """A row with its costs in the printed unit."""
    if scale == 1:
        return row
    names = {*PRINTED, *(f"{name}_{end}" for name in PRINTED for end in ("low", "high"))}
    return {
        name: value / scale if name in names and value is not None else value
        for name, value in row.items()
    }
