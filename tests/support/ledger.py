"""Random archives whose attempts have steps, prices, times and scores."""

import math
import random
from typing import Any

from tests.support.archives import random_archive

Row = dict[str, Any]
SCORES = (0.0, 0.25, 0.25, 0.5, 1.0, 3.0)
# What a score may be where it is no weight: negative, missing, infinite.
SIGNED = (-4.0, -0.5, 0.0, 0.5, 2.0, None, math.nan, math.inf, -math.inf)


def random_step(rng: random.Random) -> Row:
    """A step that may cost nothing in some units; times and money meet budgets exactly."""
    prompt = rng.choice((0, 0, 5, 10, 20))
    return {
        "prompt_tokens": prompt,
        "cached_tokens": rng.choice((0, prompt // 5 * 2)),
        "completion_tokens": rng.choice((0, 0, 5, 5, 10, 15)),
        "money": rng.choice((0.0, 0.005, 0.01, 0.01, 0.02)),
        "seconds": rng.choice((0.0, 0.0004, 0.5, 1.0, 1.0, 2.5)),
    }


def with_ledger(rng: random.Random, rows: list[Row]) -> list[Row]:
    """The rows with steps (sometimes one, sometimes none), money, seconds and two scores."""
    found = []
    for row in rows:
        steps = [random_step(rng) for _ in range(rng.choice((1, 1, 2, 3, 5)))]
        if not any(step["completion_tokens"] for step in steps):
            steps[-1]["completion_tokens"] = 5
        sums = {name: sum(step[name] for step in steps) for name in steps[0]}
        has_steps = rng.random() < 0.7
        scores = {
            "score_reward": rng.choice((*SCORES, None)),
            "score_judge": rng.choice(SIGNED),
        }
        found.append(row | sums | {"steps": steps if has_steps else None} | scores)
    return found


def ledger_archive(rng: random.Random, **knobs: Any) -> list[Row]:
    """A random archive with a ledger of steps."""
    return with_ledger(rng, random_archive(rng, **knobs))


# Budgets that meet the costs of such attempts, in every unit; and prices.
BUDGETS = {
    "completion": (5, 10, 15, 30, 60),
    "total": (10, 15, 25, 60),
    "money": ("0.01", "0.02", "0.035", "0.1"),
    "seconds": ("0.5", "1", "2.5s", "0.1m"),
    "steps": (1, 2, 3, 7),
}
PRICES = ("2.5", "0.25", "10")
