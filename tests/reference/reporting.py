"""What to report: accuracy after k attempts, what budgets cost, the frontier, and power."""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.reference.beyond import is_right
from tests.reference.paper import Archive
from tests.reference.replays import RULES, ballot
from tests.reference.statistics import bounds, dot, estimate, minus, quantile, ratios, variance

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
    rows, votes_by_k = {}, {}
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
        rows[k], votes_by_k[k] = row, votes
    for k, row in rows.items():
        # What twice as many attempts would add.
        gain = minus(votes_by_k.get(2 * k), votes_by_k[k])
        row |= archive.estimate("gain", gain, 100)
        values = {name: None if value is None else float(value) for name, value in row.items()}
        yield {"k": k, **values}


def interval(name: str, point: Fraction | None, drawn: list[Fraction]) -> Row:
    """Return a point with the interval of its replicates."""
    low, high = bounds(drawn)
    value = None if point is None else float(point)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def spending(archive: Archive) -> Iterator[Row]:
    """Yield what a budget costs, saves and loses against the same orders without one."""
    cap, primary, repeats = archive.primary_cap, archive.primary_selector, archive.orders
    whole_cost, whole_right = [], []
    for bank in archive.banks:
        orders = [archive.sequences[*bank, n] for n in range(1, repeats + 1)]
        whole_cost.append(sum(a["cost"] for order in orders for a in order[:cap]))
        if archive.is_graded:
            whole_right.append(sum(is_right(order[:cap], primary, order) for order in orders))
    rounds = [drawn for drawn in archive.weights if sum(drawn) > 0]
    once = [1] * len(whole_cost)
    for budget, rule in itertools.product(archive.budgets, archive.rules):
        cost, right = archive.cost(budget, rule), archive.right(budget, rule)
        replays = archive.pooled(budget, rule)
        kept = [1 - Fraction(dot(w, cost), dot(w, whole_cost)) for w in (once, *rounds)]
        paid = [
            Fraction(dot(w, cost), dot(w, right))
            for w in (once, *rounds)
            if right is not None and dot(w, right) > 0
        ]
        is_paid = right is not None and sum(right) > 0
        yield {
            "budget": budget,
            "rule": rule,
            "accuracy": archive.mean(right, 100),
            **archive.estimate("lost", minus(whole_right if right else None, right), 100),
            "cost": archive.mean(cost),
            "cost_p95": quantile([replay["cost"] for replay in replays], Fraction(95, 100)),
            **interval("saved", 100 * kept[0], [100 * share for share in kept[1:]]),
            "wasted": archive.mean(archive.sums("prefix_cost", budget, rule)),
            "cut": 100 * sum(r["returned"] < r["launched"] for r in replays) / len(replays),
            **interval("cost_per_correct", paid[0] if is_paid else None, paid[is_paid:]),
        }


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
