"""What lies beyond the study: any budget, equal cost, order noise, pairs of archives, policies.

Every number comes from controllers that are run again, attempt by attempt, at the budget in
question. What one archive's replays at one budget sum to is remembered, and nothing else is.
"""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

from tests.reference.paper import Archive
from tests.reference.policies import tally
from tests.reference.replays import RULES, Run, ballot, select, walk
from tests.reference.statistics import bounds, dot, estimate, minus, quantile, ratios, variance

Row = dict[str, Any]


def random_orders(archive: Archive) -> dict[tuple, list[list[Row]]]:
    """Each bank's random orders."""
    return {
        bank: [archive.sequences[*bank, repeat] for repeat in range(1, archive.orders + 1)]
        for bank in archive.banks
    }


def is_right(pool: list[Row], selector: str, bank: list[Row]) -> bool:
    """Whether the selected attempt is labelled correct; an abstention is not."""
    chosen = select(pool, selector, bank)
    return chosen is not None and bool(chosen["correct"])


def is_covered(pool: list[Row], selector: str) -> bool:
    """Whether some attempt that the selector may pick is labelled correct."""
    return any(attempt["correct"] for attempt in pool if ballot(attempt, selector) is not None)


# ---------------------------------------------------------------------------------------- changes


def turning_points(order: list[Row], cap: int, rule: str) -> Iterator[tuple[int, Run, Run]]:
    """Every budget at which the controller launches or gets back more than with a token less.

    More money never buys fewer attempts, so between two budgets that buy the same nothing turns,
    and halving finds the rest.
    """
    beyond = sum(attempt["cost"] for attempt in order[:cap]) + 2

    def between(low: int, high: int, before: Run, after: Run) -> Iterator[tuple[int, Run, Run]]:
        # What is paid turns too where a step begins; under strict it grows all the time.
        sizes = [
            (len(run.launched), len(run.pool), 0 if rule == "strict" else run.spent)
            for run in (before, after)
        ]
        if sizes[0] == sizes[1]:
            return
        if high - low == 1:
            yield high, before, after
            return
        middle = (low + high) // 2
        run = walk(order, cap, middle, rule)
        yield from between(low, middle, before, run)
        yield from between(middle, high, run, after)

    yield from between(0, beyond, walk(order, cap, 0, rule), walk(order, cap, beyond, rule))


def changes(archive: Archive) -> tuple[list[Row], list[Row]]:
    """The rows of answer_changes and cost_changes: totals at each budget minus a token less."""
    answers: dict[tuple, list[int]] = {}
    costs: dict[tuple, list[int]] = {}

    def add(totals: dict[tuple, list[int]], key: tuple, *more: int) -> None:
        old = totals.get(key, [0] * len(more))
        totals[key] = [a + b for a, b in zip(old, more, strict=True)]

    primary = archive.primary_selector
    for (_, *problem), orders in random_orders(archive).items():
        for order, rule in itertools.product(orders, archive.rules):
            # Nothing is bought with nothing: every selector abstains.
            for selector in archive.chosen:
                add(answers, (*problem, rule, selector, 0), 0, 1)
            if rule == "strict":
                # The ledger takes every token of the budget until the whole walk is paid.
                whole = walk(order, archive.primary_cap, math.inf, rule).spent
                add(costs, (*problem, rule, 0), 0, 0, 0, 1)
                add(costs, (*problem, rule, whole), 0, 0, 0, -1)
            for budget, before, after in turning_points(order, archive.primary_cap, rule):
                for selector in archive.chosen:
                    add(
                        answers,
                        (*problem, rule, selector, budget),
                        is_right(after.pool, selector, order)
                        - is_right(before.pool, selector, order),
                        (select(after.pool, selector, order) is None)
                        - (select(before.pool, selector, order) is None),
                    )
                add(
                    costs,
                    (*problem, rule, budget),
                    is_covered(after.pool, primary) - is_covered(before.pool, primary),
                    len(after.launched) - len(before.launched),
                    after.spent - before.spent if rule != "strict" else 0,
                    0,
                )
    keys = ("competition", "question_id", "rule")
    answer_changes = [
        dict(zip((*keys, "selector", "budget"), key, strict=True))
        | {
            "correct_change": correct if archive.is_graded else None,
            "abstained_change": abstained,
        }
        for key, (correct, abstained) in answers.items()
        if (correct, abstained) != (0, 0)
    ]
    cost_changes = [
        dict(zip((*keys, "budget"), key, strict=True))
        | {
            "covered_change": covered if archive.is_graded else None,
            "launched_change": launched,
            "cost_change": cost,
            "slope_change": slope,
        }
        for key, (covered, launched, cost, slope) in costs.items()
        if (covered, launched, cost, slope) != (0, 0, 0, 0)
    ]
    return answer_changes, cost_changes


# ------------------------------------------------------------------------ budgets beyond the run's


class AnyBudget:
    """What an archive's replays at any whole budget sum to, problem by problem."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.walks = random_orders(archive)
        # The same pool is the same vote, however often it is held.
        self.is_right = cache(lambda key, size: self._is_right(key, size))
        self.cost = cache(self._cost)
        self.right = cache(self._right)
        self.covered = cache(self._covered)

    def runs(self, budget: float, rule: str) -> Iterator[list[Run]]:
        """Each problem's runs."""
        for orders in self.walks.values():
            yield [walk(order, self.archive.primary_cap, budget, rule) for order in orders]

    def _is_right(self, key: tuple, size: int) -> bool:
        (bank, at) = key
        order = self.walks[bank][at]
        return is_right(order[:size], self.archive.primary_selector, order)

    def _cost(self, budget: float, rule: str) -> list[int]:
        return [sum(run.spent for run in runs) for runs in self.runs(budget, rule)]

    def _right(self, budget: float, rule: str) -> list[int] | None:
        if not self.archive.is_graded:
            return None
        return [
            sum(self.is_right((bank, at), len(run.pool)) for at, run in enumerate(runs))
            for bank, runs in zip(self.walks, self.runs(budget, rule), strict=True)
        ]

    def _covered(self, budget: float, rule: str) -> list[int] | None:
        if not self.archive.is_graded:
            return None
        primary = self.archive.primary_selector
        return [
            sum(is_covered(run.pool, primary) for run in runs) for runs in self.runs(budget, rule)
        ]

    def whole_costs(self) -> list[int]:
        """Per problem, what its dearest walk costs as a whole."""
        return [max(run.spent for run in runs) for runs in self.runs(math.inf, "strict")]


def curve_budgets(archive: Archive, curve_points: int) -> list[int]:
    """The budgets of the run, and points at equal ratios from the cheapest attempt to the end."""
    first = min(attempt["cost"] for attempt in archive.attempts)
    last = max(AnyBudget(archive).whole_costs())
    points = [
        math.floor(first * (last / first) ** (at / (curve_points - 1)) + 0.5)
        for at in range(curve_points)
    ]
    return sorted({*archive.budgets, *points})


def budget_curve(archive: Archive, curve_points: int) -> Iterator[Row]:
    any_budget = AnyBudget(archive)
    rows, deltas = [], []  # deltas: per budget the point and the replicates, as fractions
    for budget in curve_budgets(archive, curve_points):
        right = {rule: any_budget.right(budget, rule) for rule in RULES}
        covered = {rule: any_budget.covered(budget, rule) for rule in RULES}
        gain = minus(right["advisory"], right["strict"])
        rows.append(
            {
                "budget": budget,
                "strict_accuracy": archive.mean(right["strict"], 100),
                "advisory_accuracy": archive.mean(right["advisory"], 100),
                **archive.estimate("delta", gain, 100),
                "band_low": None,
                "band_high": None,
                "strict_coverage": archive.mean(covered["strict"], 100),
                "advisory_coverage": archive.mean(covered["advisory"], 100),
                "strict_cost": archive.mean(any_budget.cost(budget, "strict")),
                "advisory_cost": archive.mean(any_budget.cost(budget, "advisory")),
            }
        )
        if gain is not None:
            point = Fraction(100 * sum(gain), sum(archive.replays))
            deltas.append((point, ratios(archive.weights, gain, archive.replays, 100)))
    for row, (low, high) in zip(rows, bands(deltas), strict=False):
        row["band_low"], row["band_high"] = low, high
    yield from rows


def bands(
    deltas: list[tuple[Fraction, list[Fraction]]],
) -> list[tuple[float | None, float | None]]:
    """The simultaneous band around each point of a curve, given its replicates."""
    variances = [variance(drawn) for _, drawn in deltas]
    if not deltas or variances[0] is None:
        return [(None, None)] * len(deltas)
    errors = [math.sqrt(squared or 0) for squared in variances]
    farthest = []
    for replicate in range(len(deltas[0][1])):
        distances = [
            abs(float(drawn[replicate] - point)) / error
            for (point, drawn), error in zip(deltas, errors, strict=True)
            if error > 0
        ]
        farthest.append(max(distances, default=0.0))
    width = quantile(farthest, Fraction(95, 100)) or 0.0
    return [
        (float(point) - width * error, float(point) + width * error)
        for (point, _), error in zip(deltas, errors, strict=True)
    ]


def matched_cost(archive: Archive) -> Iterator[Row]:
    any_budget = AnyBudget(archive)
    whole_costs = any_budget.whole_costs()

    def strict_total(weights: list[int], budget: float) -> int:
        return dot(weights, any_budget.cost(budget, "strict"))

    def solve(weights: list[int], budget: int) -> tuple[int, bool]:
        """The largest whole strict budget that costs no more, found by halving."""
        money = dot(weights, any_budget.cost(budget, "advisory"))
        low, high = 0, max(whole_costs)
        if money == strict_total(weights, math.inf):
            return max(s for s, w in zip(whole_costs, weights, strict=True) if w > 0), True
        while high - low > 1:
            middle = (low + high) // 2
            if strict_total(weights, middle) <= money:
                low = middle
            else:
                high = middle
        return low, False

    def delta(weights: list[int], budget: int, strict_budget: int) -> Fraction | None:
        gain = minus(
            any_budget.right(budget, "advisory"), any_budget.right(strict_budget, "strict")
        )
        if gain is None:
            return None
        return Fraction(100 * dot(weights, gain), dot(weights, archive.replays))

    ones = [1] * len(archive.banks)
    weighed = [weights for weights in archive.weights if sum(weights) > 0]
    for budget in archive.budgets:
        strict_budget, exhausted = solve(ones, budget)
        budgets = [solve(weights, budget)[0] for weights in weighed]
        point = delta(ones, budget, strict_budget)
        deltas = (
            [delta(weights, budget, b) for weights, b in zip(weighed, budgets, strict=True)]
            if archive.is_graded
            else []
        )
        low, high = bounds(deltas)
        tails = [quantile(deltas, Fraction(level, 100)) for level in (5, 95)]
        budget_low, budget_high = bounds(budgets)
        yield {
            "advisory_budget": budget,
            "advisory_cost": archive.mean(any_budget.cost(budget, "advisory")),
            "strict_budget": strict_budget,
            "strict_budget_low": budget_low,
            "strict_budget_high": budget_high,
            "strict_cost": archive.mean(any_budget.cost(strict_budget, "strict")),
            "advisory_accuracy": archive.mean(any_budget.right(budget, "advisory"), 100),
            "strict_accuracy": archive.mean(any_budget.right(strict_budget, "strict"), 100),
            "delta": None if point is None else float(point),
            "delta_low": low,
            "delta_high": high,
            "equivalence_margin": max(abs(tail) for tail in tails) if deltas else None,
            "exhausted": exhausted,
        }


# ------------------------------------------------------------------------ at the budgets of the run


def order_noise(archive: Archive) -> Iterator[Row]:
    """Errors are compared as exact fractions; only what is printed is rounded."""
    for budget in archive.budgets if archive.is_graded else []:
        strict, advisory = (
            archive.pooled(budget, rule, archive.primary_selector)
            for rule in ("strict", "advisory")
        )
        points = [
            Fraction(100 * (a["correct"] - s["correct"]))
            for s, a in zip(strict, advisory, strict=True)
        ]
        spreads = [
            variance(points[at : at + archive.orders])
            for at in range(0, len(points), archive.orders)
        ]
        gain = archive.gain(budget)
        problem_square = variance(ratios(archive.weights, gain, archive.replays, 100))
        order_square = None
        if archive.orders > 1:
            order_square = sum(spreads) / archive.orders / len(spreads) ** 2
        needed = None
        if order_square is not None and problem_square:
            needed = math.ceil(archive.orders * 100 * order_square / problem_square)
        yield {
            "budget": budget,
            "delta": archive.mean(gain, 100),
            "order_error": None if order_square is None else math.sqrt(order_square),
            "problem_error": None if problem_square is None else math.sqrt(problem_square),
            "orders_needed": needed,
        }


def archive_comparisons(archives: list[Archive]) -> Iterator[Row]:
    for archive, other in itertools.combinations(archives, 2):
        shared = [bank[1:] for bank in archive.banks if (other.name, *bank[1:]) in other.banks]
        if not shared:
            continue

        def common(
            values: list[int] | None, side: Archive, shared: list[tuple] = shared
        ) -> list[int] | None:
            """A side's values at the problems that both have."""
            if values is None:
                return None
            places = {bank[1:]: at for at, bank in enumerate(side.banks)}
            return [values[places[problem]] for problem in shared]

        weights = [common(drawn, archive) for drawn in archive.weights]
        replays = [archive.orders] * len(shared)
        for rule, budget in itertools.product(RULES, archive.budgets):
            right, other_right = (common(s.right(budget, rule), s) for s in (archive, other))
            cost, other_cost = (common(s.cost(budget, rule), s) for s in (archive, other))
            yield {
                "archive": archive.name,
                "other": other.name,
                "rule": rule,
                "budget": budget,
                "problems": len(shared),
                "accuracy": None if right is None else 100 * sum(right) / sum(replays),
                "other_accuracy": (
                    None if other_right is None else 100 * sum(other_right) / sum(replays)
                ),
                **estimate("delta", weights, minus(right, other_right), replays, 100),
                "cost": sum(cost) / sum(replays),
                "other_cost": sum(other_cost) / sum(replays),
                **estimate("cost_difference", weights, minus(cost, other_cost), replays),
            }


def answer_agreement(archive: Archive) -> Iterator[Row]:
    primary = archive.primary_selector
    for budget in archive.budgets:
        strict, advisory = (
            archive.pooled(budget, rule, primary) for rule in ("strict", "advisory")
        )
        kinds = {"same_answer": 0, "different_answer": 0, "strict_abstains": 0, "both_abstain": 0}
        for s, a in zip(strict, advisory, strict=True):
            if a["abstained"]:
                assert s["abstained"]
                kinds["both_abstain"] += 1
            elif s["abstained"]:
                kinds["strict_abstains"] += 1
            else:
                kinds["same_answer" if s["vote"] == a["vote"] else "different_answer"] += 1
        shares = {}
        for rule in RULES:
            votes = [
                Fraction(tally(run.pool, primary)["leader_votes"], count)
                # Without answers there is no vote to have a share of.
                for runs in AnyBudget(archive).runs(budget, rule)
                for run in runs
                if (count := sum(isinstance(ballot(one, primary), str) for one in run.pool))
            ]
            shares[rule] = float(100 * sum(votes) / len(votes)) if votes else None
        yield {
            "budget": budget,
            **{kind: 100 * count / len(strict) for kind, count in kinds.items()},
            "strict_vote_share": shares["strict"],
            "advisory_vote_share": shares["advisory"],
        }


def policies(
    archive: Archive, replays: dict[tuple, Row], selections: dict[tuple, Row], names: list[str]
) -> Iterator[Row]:
    """Replays and selections are keyed by bank, repeat, policy, budget and rule."""
    for policy, rule, budget in itertools.product(names, archive.rules, archive.budgets):

        def sums(
            column: str, of: dict[tuple, Row], policy: str, end: tuple = (budget, rule)
        ) -> list[int] | None:
            """Per problem, the sum over its random orders; None if labels are missing."""
            values = [
                [of[*bank, repeat, policy, *end][column] for repeat in range(1, archive.orders + 1)]
                for bank in archive.banks
            ]
            return None if None in values[0] else [sum(orders) for orders in values]

        walks = [
            (*bank, repeat) for bank in archive.banks for repeat in range(1, archive.orders + 1)
        ]
        endings = [replays[*walk, policy, budget, rule]["stopped_by"] for walk in walks]
        kept = [
            selections[*walk, policy, budget, rule]["vote"]
            == selections[*walk, "none", budget, rule]["vote"]
            for walk in walks
        ]
        right, free_right = (sums("correct", selections, name) for name in (policy, "none"))
        cost, free_cost = (sums("cost", replays, name) for name in (policy, "none"))
        saved = minus(free_cost, cost)
        yield {
            "policy": policy,
            "rule": rule,
            "budget": budget,
            "accuracy": archive.mean(right, 100),
            **archive.estimate("delta", minus(right, free_right), 100),
            "cost": archive.mean(cost),
            **estimate("cost_saved", archive.weights, saved, free_cost, 100),
            "attempts": archive.mean(sums("launched", replays, policy)),
            **{
                f"stopped_by_{reason}": 100 * endings.count(reason) / len(endings)
                for reason in ("policy", "budget", "cap")
            },
            "answer_kept": 100 * sum(kept) / len(kept),
        }
