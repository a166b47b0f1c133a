"""The slow reference held to the definitions themselves, and to another library's policies."""

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from scorio.aggregate import adaptive_consistency_stop, esc_stop

from tests import reference
from tests.reference.policies import leader_probability
from tests.support.archives import attempt
from tests.support.awkward import awkward_archive
from tests.support.banks import small_banks

RUN = {"budgets": (7,), "caps": (4,), "primary_cap": 4, "orders": 2, "replicates": 3}


def total_at(changes, budget):
    """What the changes up to a budget sum to, by problem, rule and, if there is one, selector."""
    totals = {}
    for row in changes:
        if row["budget"] <= budget:
            key = (*(row[c] for c in ("archive", "competition", "question_id", "rule")),)
            key += (row["selector"],) if "selector" in row else ()
            sums = totals.setdefault(key, Counter())
            for column in row:
                if column.endswith("_change"):
                    sums[column] += row[column]
            if "slope_change" in row:
                sums["paid"] += row["cost_change"] + row["slope_change"] * (budget - row["budget"])
    return totals


@settings(max_examples=60, deadline=None)
@given(small_banks())
def test_sums_of_changes_are_real_replays_at_every_budget(rows):
    expected = reference.compute(rows, **RUN)
    orders = {k: order for k, order in reference.ordered_attempts(rows, 2).items() if k[-1] > 0}
    dearest = max(sum(one["completion_tokens"] for one in order[:4]) for order in orders.values())
    for budget in range(1, dearest + 3):
        answers = total_at(expected["answer_changes"], budget)
        costs = total_at(expected["cost_changes"], budget)
        for rule, selector in itertools.product(reference.RULES, reference.SELECTORS):
            seen = {}
            for (*bank, _), order in orders.items():
                run = reference.walk(order, 4, budget, rule)
                chosen = reference.select(run.pool, selector)
                sums = seen.setdefault((*bank, rule), Counter())
                sums["correct"] += chosen is not None and chosen["correct"]
                sums["abstained"] += chosen is None
                sums["launched"] += len(run.launched)
                sums["paid"] += run.spent
                eligible = [one for one in run.pool if one["eligible"]]
                sums["covered"] += any(one["correct"] for one in eligible)
            for key, sums in seen.items():
                voted, paid = answers[*key, selector], costs[key]
                assert voted["correct_change"] == sums["correct"], (budget, key)
                assert voted["abstained_change"] == sums["abstained"], (budget, key)
                assert paid["launched_change"] == sums["launched"], (budget, key)
                assert paid["covered_change"] == sums["covered"], (budget, key)
                assert paid["paid"] == sums["paid"], (budget, key)


# One bank, canonical order aside: costs 10 and 20, so a random order is 10 20 or 20 10.
def test_matched_cost_of_two_attempts_is_the_one_worked_out_by_hand():
    rows = [attempt(1, 10, "4"), attempt(2, 20, "5", correct=True)]
    run = {"budgets": (5, 11, 30), "caps": (2,), "primary_cap": 2, "orders": 6, "replicates": 0}
    found = reference.compute(rows, **run)
    cheap_first = sum(
        order[0]["completion_tokens"] == 10
        for key, order in reference.ordered_attempts(rows, 6).items()
        if key[-1] > 0
    )
    assert 0 < cheap_first < 6
    five, eleven, thirty = found["matched_cost"]
    # Budget 5: advisory pays its first attempt, 10 or 20; six strict walks share that evenly.
    money = 10 * cheap_first + 20 * (6 - cheap_first)
    assert five["advisory_cost"] == money / 6
    assert (five["strict_budget"], five["exhausted"]) == (money // 6, False)
    # Budget 11: after a cheap first attempt the second starts and is paid whole.
    money = 30 * cheap_first + 20 * (6 - cheap_first)
    assert (eleven["advisory_cost"], eleven["strict_budget"]) == (money / 6, money // 6)
    # Budget 30 buys all there is.
    assert (thirty["strict_budget"], thirty["exhausted"], thirty["delta"]) == (30, True, 0.0)


def test_the_leader_of_five_votes_to_none_is_ahead_with_63_of_64():
    assert leader_probability(5, 0) == Fraction(63, 64)
    assert leader_probability(0, 0) == Fraction(1, 2)
    # 4 to none: 31/32 is enough; 3 to none: 15/16 is not; so four attempts that agree stop it.
    assert leader_probability(4, 0) == Fraction(31, 32)
    assert leader_probability(3, 0) == Fraction(15, 16)


VOTERS = ("majority", "archive_majority")


@pytest.mark.parametrize("seed", range(12))
def test_decided_never_changes_the_answer_when_no_budget_binds(seed):
    """For max_logprob no vote decides, so its answer may change; it is left out."""
    rng = random.Random(seed)
    rows = awkward_archive(rng)
    cap, selector = rng.choice((1, 3, 5, 8, 50)), rng.choice(VOTERS)
    for order in reference.ordered_attempts(rows, 3).values():
        whole = reference.walk(order, cap, math.inf, "strict").pool
        stop = reference.stop_position(order, cap, "decided", selector)
        kept = order[:stop] if stop else whole
        assert reference.select(kept, selector) is reference.select(whole, selector)


@pytest.mark.parametrize("selector", reference.SELECTORS)
@pytest.mark.parametrize("seed", range(6))
def test_policies_stop_where_the_functions_of_scorio_do(seed, selector):
    """Both are asked after every attempt; what may not be picked is None there.

    1. `adaptive_consistency_stop` takes 1 - I(1/2; v1 + 1, v2 + 1) in doubles, here a binomial
       tail is summed as a fraction. They are the same number, so they differ only where it is
       0.95 itself, and no sum over a power of two is 19/20.
    2. It says 0 of a pool without votes, here it is 1/2; neither is 0.95.
    3. `esc_stop` is told one window and knows nothing of others: the windows, five attempts that
       do not overlap, are made here. An attempt without an answer breaks its window in both.
    4. The windows of the paper answer with the window's answer; scorio and the policy only say
       when to stop, and the answer stays the selector's.
    5. Both functions of scorio leave a cap to their caller; a policy that has not stopped by its
       cap has no stop.
    """
    rng = random.Random(seed)
    rows = awkward_archive(rng)
    cap = rng.choice((4, 5, 10, 50))
    seen = Counter()
    for order in reference.ordered_attempts(rows, 3).values():
        ballots = [reference.ballot(one, selector) for one in order[:cap]]
        sizes = range(1, len(ballots) + 1)
        consistent = (n for n in sizes if adaptive_consistency_stop(ballots[:n]))
        unanimous = (n for n in sizes if n % 5 == 0 and esc_stop(ballots[n - 5 : n]))
        for policy, stops in (("adaptive_consistency", consistent), ("early_stopping", unanimous)):
            stop = reference.stop_position(order, cap, policy, selector)
            assert stop == next(stops, None), (policy, ballots)
            seen[policy, stop is None] += 1
    assert seen


def test_an_attempt_is_held_to_its_own_references_first():
    rows = [
        attempt(1, 10, "4", references=["5"]),  # its own: 4 is not accepted
        attempt(2, 10, "4", references=["4"]),
        attempt(3, 10, "5", references=[" "]),  # none but a blank one: those of its bank
        attempt(1, 10, "4", archive="b"),  # none in its bank: those of all archives
        attempt(2, 10, "6", archive="b"),
    ]
    found = reference.compute(rows, **RUN)["grades"]
    assert [row["repaired_correct"] for row in found] == [False, True, True, True, False]
