"""Controllers that stop by themselves: what they know of a pool, and when each of them stops."""

from collections.abc import Callable
from fractions import Fraction
from math import comb, inf
from typing import Any

from tests.reference.replays import Run, ballot, walk

Row = dict[str, Any]


def tally(pool: list[Row], selector: str) -> Row:
    """The votes of a pool, of the attempts that the selector may pick."""
    # Attempts without an answer cast no vote.
    ballots = [
        vote if isinstance(vote, str) else None
        for vote in (ballot(attempt, selector) for attempt in pool)
    ]
    votes = [vote for vote in ballots if vote is not None]
    counts = sorted((votes.count(answer) for answer in set(votes)), reverse=True)
    run_length = 0
    while run_length < len(ballots) and ballots[-1] is not None:
        if ballots[-1 - run_length] != ballots[-1]:
            break
        run_length += 1
    return {
        "leader_votes": counts[0] if counts else 0,
        "runner_up_votes": counts[1] if len(counts) > 1 else 0,
        "answers": len(counts),
        "run_length": run_length,
        "cumulative_cost": sum(attempt["cost"] for attempt in pool),
    }


def leader_probability(leader: int, runner_up: int) -> Fraction:
    """P(Binomial(leader + runner_up + 1, 1/2) <= leader)."""
    flips = leader + runner_up + 1
    return Fraction(sum(comb(flips, heads) for heads in range(leader + 1)), 2**flips)


# Each is asked with the tally of a pool, how many attempts it holds, and how many it can hold.


def none(known: Row, position: int, limit: int) -> bool:
    return False


def adaptive_consistency(known: Row, position: int, limit: int) -> bool:
    likely = leader_probability(known["leader_votes"], known["runner_up_votes"])
    return likely >= Fraction(95, 100)


def early_stopping(known: Row, position: int, limit: int) -> bool:
    return position % 5 == 0 and known["run_length"] >= 5


def lead_of_three(known: Row, position: int, limit: int) -> bool:
    return known["leader_votes"] - known["runner_up_votes"] >= 3


def decided(known: Row, position: int, limit: int) -> bool:
    return known["leader_votes"] > known["runner_up_votes"] + limit - position


POLICIES: dict[str, Callable[[Row, int, int], bool]] = {
    policy.__name__: policy
    for policy in (adaptive_consistency, decided, early_stopping, lead_of_three, none)
}


def policy_walk(
    order: list[Row], cap: int, budget: float, rule: str, policy: str, selector: str
) -> Run:
    """A controller that asks its policy about the pool after every return."""
    limit = min(cap, len(order))

    def stops(pool: list[Row]) -> bool:
        return POLICIES[policy](tally(pool, selector), len(pool), limit)

    return walk(order, cap, budget, rule, stops)


def stop_position(order: list[Row], cap: int, policy: str, selector: str) -> int | None:
    """After how many attempts the policy stops by itself when money is no matter."""
    run = policy_walk(order, cap, inf, "advisory", policy, selector)
    return len(run.pool) if run.stopped_by == "policy" else None
