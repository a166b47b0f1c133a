"""What to report: accuracy after k attempts, points that nothing beats, and what would show."""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.reference.beyond import is_right
from tests.reference.paper import Archive
from tests.reference.replays import RULES, ballot
from tests.reference.statistics import dot, estimate, minus, ratios, variance

Row = dict[str, Any]
# Quantiles of the normal distribution: 5 % two-sided, and four times in five.
FACTOR = Fraction("1.959963984540054") + Fraction("0.8416212335729143")


def at_k(archive: Archive) -> Iterator[Row]:
    """Chances are over all orders of the whole bank, votes over the random orders."""
    if not archive.is_graded:
        return
    most = min(max(archive.caps), *(len(members) for members in archive.banks.values()))
    powers = {2**n for n in range(most.bit_length())}
    primary = archive.primary_selector
    ones = [1] * len(archive.banks)
    for k in sorted(k for k in {*powers, archive.primary_cap} if k <= most):
        any_passes, all_pass, votes, costs = [], [], [], []
        for bank, members in archive.banks.items():
            size = len(members)
            right = sum(bool(a["correct"]) for a in members if ballot(a, primary) is not None)
            ways = math.comb(size, k)
            any_passes.append(1 - Fraction(math.comb(size - right, k), ways))
            all_pass.append(Fraction(math.comb(right, k), ways))
            orders = [archive.sequences[*bank, n] for n in range(1, archive.orders + 1)]
            votes.append(sum(is_right(order[:k], primary, order) for order in orders))
            costs.append(Fraction(k * sum(a["cost"] for a in members), size))
        row = {
            **estimate("pass_at_k", archive.weights, any_passes, ones, 100),
            **estimate("pass_hat_k", archive.weights, all_pass, ones, 100),
            **archive.estimate("majority_at_k", votes, 100),
            "cost": sum(costs) / len(costs),
        }
        values = {name: None if value is None else float(value) for name, value in row.items()}
        yield {"k": k, **values}


def shared_problems(archives: list[Archive]) -> list[tuple]:
    """The problems that every archive has, in order."""
    problems = [{bank[1:] for bank in archive.banks} for archive in archives]
    return sorted(set.intersection(*problems))


def common(values: list[int], archive: Archive, problems: list[tuple]) -> list[int]:
    """An archive's values at some of its problems."""
    places = {bank[1:]: at for at, bank in enumerate(archive.banks)}
    return [values[places[problem]] for problem in problems]


def is_best(point: tuple[int, int], points: list[tuple[int, int]]) -> bool:
    """Whether no other point costs no more and is at least as right, one of the two strictly."""
    cost, right = point
    return not any(
        other_cost <= cost and other_right >= right and (other_cost < cost or other_right > right)
        for other_cost, other_right in points
    )


def frontier(
    archives: list[Archive],
    replays: dict[tuple, Row],
    selections: dict[tuple, Row],
    names: list[str],
) -> Iterator[Row]:
    """Replays and selections under policies are keyed by bank, repeat, policy, budget and rule."""
    shared = shared_problems(archives)
    graded = [archive for archive in archives if archive.is_graded]
    if not shared or not graded:
        return
    totals: dict[tuple, tuple[list[int], list[int]]] = {}  # cost and correct, problem by problem
    for archive in graded:
        repeats = range(1, archive.orders + 1)
        policies = sorted({*names, "none"})
        for policy, *end in itertools.product(policies, archive.rules, archive.budgets):
            rule, budget = end
            cost, right = archive.cost(budget, rule), archive.right(budget, rule)
            if policy != "none":
                keys = [
                    [(*bank, n, policy, budget, rule) for n in repeats] for bank in archive.banks
                ]
                cost = [sum(replays[key]["cost"] for key in orders) for orders in keys]
                right = [sum(selections[key]["correct"] for key in orders) for orders in keys]
            assert right is not None
            totals[archive.name, policy, rule, budget] = (
                common(cost, archive, shared),
                common(right, archive, shared),
            )
    weights = [common(drawn, graded[0], shared) for drawn in graded[0].weights]
    rounds = [[1] * len(shared), *(drawn for drawn in weights if sum(drawn) > 0)]
    best: dict[tuple, list[bool]] = {key: [] for key in totals}
    for drawn in rounds:
        points = {key: (dot(drawn, c), dot(drawn, r)) for key, (c, r) in totals.items()}
        for key, point in points.items():
            best[key].append(is_best(point, list(points.values())))
    count = len(shared) * graded[0].orders
    for key, (cost, right) in totals.items():
        first, *drawn_best = best[key]
        yield dict(zip(("archive", "policy", "rule", "budget"), key, strict=True)) | {
            "problems": len(shared),
            "cost": sum(cost) / count,
            "accuracy": 100 * sum(right) / count,
            "on_frontier": first,
            "frontier_share": 100 * sum(drawn_best) / len(drawn_best) if drawn_best else None,
        }


def difference(
    weights: list[list[int]], gain: list[int], replays: list[int], effect: Fraction
) -> Row:
    """What the gains of these problems would show."""
    squared = variance(ratios(weights, gain, replays, 100))
    error = None if squared is None else math.sqrt(squared)
    needed = math.ceil(len(gain) * FACTOR**2 * squared / effect**2) if squared else None
    return {
        "problems": len(gain),
        "delta": 100 * sum(gain) / sum(replays),
        "error": error,
        "detectable": None if error is None else float(FACTOR) * error,
        "problems_needed": needed,
    }


def power(archives: list[Archive], effect: Fraction) -> Iterator[Row]:
    """First the rules within an archive, then archives under the same rule."""
    graded = [archive for archive in archives if archive.is_graded]
    for archive in graded:
        for budget in archive.budgets:
            gain = archive.gain(budget)
            assert gain is not None
            key = {"archive": archive.name, "other": None, "rule": None, "budget": budget}
            yield key | difference(archive.weights, gain, archive.replays, effect)
    for archive, other in itertools.combinations(graded, 2):
        shared = shared_problems([archive, other])
        weights = [common(drawn, archive, shared) for drawn in archive.weights]
        for rule, budget in itertools.product(RULES, archive.budgets if shared else ()):
            right, other_right = (
                common(side.right(budget, rule) or [], side, shared) for side in (archive, other)
            )
            gain = minus(right, other_right)
            assert gain is not None
            key = {"archive": archive.name, "other": other.name, "rule": rule, "budget": budget}
            yield key | difference(weights, gain, [archive.orders] * len(shared), effect)
