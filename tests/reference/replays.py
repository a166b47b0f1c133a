"""One controller, one attempt after the other, and what a selector makes of its pool."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]

RULES = ("advisory", "strict")
SELECTORS = ("archive_majority", "majority", "max_logprob")


def ballot(attempt: Row, selector: str) -> str | None:
    """The answer this attempt brings to this selector, or None when it is not eligible for it."""
    if attempt["finish_reason"] != "stop":
        return None
    if selector == "archive_majority":
        return attempt["archive_answer"]
    if selector == "max_logprob" and attempt["mean_logprob"] is None:
        return None
    return attempt["answer"]


def select(pool: list[Row], selector: str) -> Row | None:
    """The selected attempt of a pool in order; max() keeps the earliest of equals."""
    candidates = [attempt for attempt in pool if ballot(attempt, selector) is not None]
    if not candidates:
        return None
    if selector == "max_logprob":
        return max(candidates, key=lambda attempt: attempt["mean_logprob"])
    ballots = [ballot(attempt, selector) for attempt in candidates]
    return max(candidates, key=lambda attempt: ballots.count(ballot(attempt, selector)))


@dataclass
class Run:
    """What one controller launched, got back and paid, and what ended it."""

    launched: list[Row]
    pool: list[Row]
    spent: int
    prefix: int
    stopped_by: str


def walk(
    order: list[Row],
    cap: int,
    budget: float,
    rule: str,
    stops: Callable[[list[Row]], bool] | None = None,
) -> Run:
    """Run the controller over the attempts in order; it knows only what came back and was spent.

    `stops` is a policy: it is asked after every return, before anything else may end the run.
    """
    run = Run([], [], 0, 0, "cap")
    for attempt in order[:cap]:
        if run.spent >= budget:
            break
        run.launched.append(attempt)
        cost = attempt["completion_tokens"]
        if rule == "strict" and run.spent + cost > budget:
            run.prefix = int(budget) - run.spent
            run.spent = int(budget)
            break
        run.spent += cost
        run.pool.append(attempt)
        if stops is not None and stops(run.pool):
            run.stopped_by = "policy"
            return run
    if run.spent >= budget:
        run.stopped_by = "budget"
    return run
