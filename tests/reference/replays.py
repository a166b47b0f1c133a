"""One controller, one attempt after the other, and what a selector makes of its pool."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]

# What every run has, and what tables compare.
RULES = ("advisory", "strict")
ALL_RULES = ("advisory", "attempt_lost", "step", "step_lost", "strict")
SELECTORS = ("archive_majority", "majority", "max_logprob")
SCORED = ("exp_vote", "vote", "best")


def score_of(selector: str) -> str | None:
    """The score that a selector reads."""
    for kind in SCORED:
        if selector.startswith(f"{kind}_"):
            return selector.removeprefix(f"{kind}_")
    return "logprob" if selector == "max_logprob" else None


def value_of(attempt: Row, score: str) -> float | None:
    """An attempt's score; its log-probability is one."""
    return attempt["mean_logprob"] if score == "logprob" else attempt["scores"].get(score)


def ballot(attempt: Row, selector: str) -> Any:
    """The answer this attempt brings to this selector, or None when it is not eligible for it.

    Without answers an attempt stands for itself.
    """
    if attempt["finish_reason"] != "stop":
        return None
    if selector == "archive_majority":
        return attempt["archive_answer"]
    score = score_of(selector)
    if score is not None and value_of(attempt, score) is None:
        return None
    if attempt["eligible"] and attempt["answer"] is None:
        return ("seed", attempt["seed"])
    return attempt["answer"]


def weight(attempt: Row, selector: str, bank: list[Row]) -> int:
    """What an attempt's vote weighs: one, or what its score says, in billionths."""
    score = score_of(selector)
    if score is None or selector.startswith("best") or selector == "max_logprob":
        return 1
    value = value_of(attempt, score)
    if selector.startswith("vote_"):
        return math.floor(1e9 * value + 0.5)
    known = [value_of(one, score) for one in bank if ballot(one, selector) is not None]
    return math.floor(1e9 * math.exp(value - max(known)) + 0.5)


def select(pool: list[Row], selector: str, bank: list[Row] | None = None) -> Row | None:
    """The selected attempt of a pool in order; max() keeps the earliest of equals."""
    candidates = [attempt for attempt in pool if ballot(attempt, selector) is not None]
    if not candidates:
        return None
    if selector in ("first", "last"):
        return candidates[0 if selector == "first" else -1]
    if selector == "max_logprob" or selector.startswith("best_"):
        score = score_of(selector)
        return max(candidates, key=lambda attempt: value_of(attempt, score))
    weights: dict[Any, int] = {}
    for attempt in candidates:
        vote = ballot(attempt, selector)
        weights[vote] = weights.get(vote, 0) + weight(attempt, selector, bank or pool)
    return max(candidates, key=lambda attempt: weights[ballot(attempt, selector)])


@dataclass
class Run:
    """What one controller launched, got back and paid, and what ended it."""

    launched: list[Row]
    pool: list[Row]
    spent: int
    prefix: int
    stopped_by: str
    # Prompt tokens of the steps that were begun.
    prompts: int = 0


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
        begun, cost = run.spent, attempt["cost"]
        starts = itertools.accumulate(attempt["steps"], initial=begun)
        run.prompts += sum(
            prompt
            for start, prompt in zip(starts, attempt["step_prompts"], strict=False)
            if start < budget or rule not in ("strict", "step", "step_lost")
        )
        is_within = begun + cost <= budget
        if rule == "strict":
            run.spent = begun + cost if is_within else int(budget)
            is_returned = is_within
        elif rule in ("step", "step_lost"):
            steps = list(attempt["steps"])
            # The limit is looked at between steps.
            while steps and run.spent < budget:
                run.spent += steps.pop(0)
            is_returned = not steps if rule == "step" else is_within
        else:
            run.spent = begun + cost
            is_returned = rule == "advisory" or is_within
        if not is_returned:
            run.prefix = run.spent - begun
            break
        run.pool.append(attempt)
        if stops is not None and stops(run.pool):
            run.stopped_by = "policy"
            return run
    if run.spent >= budget:
        run.stopped_by = "budget"
    return run
