"""The study's tables of one archive, from its replays."""

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.reference.replays import RULES, SELECTORS, ballot, select, walk
from tests.reference.statistics import bounds, dot, estimate, minus, quantile

Row = dict[str, Any]


def neighbours(costs: dict[int, int], cost: int) -> tuple[int, int] | None:
    """The adjacent strict budgets around a cost, None when it lies outside all of them."""
    pairs = list(itertools.pairwise(sorted(costs, key=lambda budget: (costs[budget], budget))))
    for left, right in pairs:
        if costs[left] < costs[right] and costs[left] <= cost <= costs[right]:
            return left, right
    if pairs and set(costs.values()) == {cost}:
        return pairs[0]
    return None


def interpolate(
    costs: dict[int, int], scores: dict[int, int], pair: tuple[int, int], cost: int
) -> tuple[Fraction, Fraction]:
    """The weight of the right neighbour and the interpolated score."""
    left, right = pair
    gap = costs[right] - costs[left]
    weight = Fraction(cost - costs[left], gap) if gap else Fraction(0)
    return weight, (1 - weight) * scores[left] + weight * scores[right]


@dataclass
class Archive:
    """One archive's replays, ready for its rows in the tables."""

    name: str
    banks: dict[tuple, list[Row]]  # bank -> attempts by seed, banks in order of problem
    sequences: dict[tuple, list[Row]]  # (*bank, repeat) -> attempts in order
    cells: dict[tuple, Row]  # (*bank, repeat, cap, budget, rule, selector or None) -> row
    weights: list[list[int]]  # per replicate, how often each problem was drawn
    budgets: list[int]
    caps: list[int]
    primary_cap: int
    primary_selector: str
    orders: int
    rules: Sequence[str] = RULES
    chosen: Sequence[str] = SELECTORS
    adds_prompts: bool = True

    @property
    def attempts(self) -> list[Row]:
        return [attempt for members in self.banks.values() for attempt in members]

    @property
    def selectors(self) -> list[str]:
        """The selectors that have an eligible attempt here."""
        return [s for s in self.chosen if any(ballot(a, s) is not None for a in self.attempts)]

    @property
    def replays(self) -> list[int]:
        """Random orders per problem, the denominator of every mean."""
        return [self.orders] * len(self.banks)

    def pooled(self, budget: int, rule: str, selector: str | None = None) -> list[Row]:
        """Every random-order replay at the primary cap, or what a selector made of it."""
        return [
            self.cells[*bank, repeat, self.primary_cap, budget, rule, selector]
            for bank in self.banks
            for repeat in range(1, self.orders + 1)
        ]

    @property
    def is_graded(self) -> bool:
        return all(attempt["correct"] is not None for attempt in self.attempts)

    def sums(
        self, column: str, budget: int, rule: str, selector: str | None = None
    ) -> list[int] | None:
        """Per problem, the sum of a column over its random orders; None if labels are missing."""
        values = [row[column] for row in self.pooled(budget, rule, selector)]
        if None in values:
            return None
        return [sum(values[at : at + self.orders]) for at in range(0, len(values), self.orders)]

    def right(self, budget: int, rule: str, selector: str | None = None) -> list[int] | None:
        """Per problem, in how many random orders the selected answer is correct."""
        return self.sums("correct", budget, rule, selector or self.primary_selector)

    def cost(self, budget: int, rule: str) -> list[int]:
        return self.sums("cost", budget, rule)

    def gain(self, budget: int) -> list[int] | None:
        return minus(self.right(budget, "advisory"), self.right(budget, "strict"))

    def mean(self, values: list[int] | None, scale: int = 1) -> float | None:
        return None if values is None else scale * sum(values) / sum(self.replays)

    def estimate(self, name: str, values: list[int] | None, scale: int = 1) -> Row:
        return estimate(name, self.weights, values, self.replays, scale)


def main(archive: Archive, budget: int) -> Iterator[Row]:
    gain = archive.gain(budget)
    covered = [archive.sums("covered", budget, rule) for rule in ("strict", "advisory")]
    more_covered = minus(covered[1], covered[0])
    costs = [archive.mean(archive.cost(budget, rule)) for rule in ("strict", "advisory")]
    yield {
        "strict_accuracy": archive.mean(archive.right(budget, "strict"), 100),
        "advisory_accuracy": archive.mean(archive.right(budget, "advisory"), 100),
        **archive.estimate("delta", gain, 100),
        "strict_coverage": archive.mean(covered[0], 100),
        "advisory_coverage": archive.mean(covered[1], 100),
        "delta_coverage": archive.mean(more_covered, 100),
        "gap_change": archive.mean(minus(more_covered, gain), 100),
        "strict_cost": costs[0],
        "advisory_cost": costs[1],
        "strict_cost_ratio": costs[0] / budget,
        "advisory_cost_ratio": costs[1] / budget,
    }


def curves(archive: Archive, budget: int) -> Iterator[Row]:
    allowed = [budget * count for count in archive.replays]
    for rule in archive.rules:
        cost = archive.cost(budget, rule)
        yield {
            "rule": rule,
            **archive.estimate("accuracy", archive.right(budget, rule), 100),
            **archive.estimate("coverage", archive.sums("covered", budget, rule), 100),
            "cost": archive.mean(cost),
            **estimate("cost_ratio", archive.weights, cost, allowed),
        }


def selectors(archive: Archive, budget: int) -> Iterator[Row]:
    for selector in archive.selectors:
        strict = archive.right(budget, "strict", selector)
        advisory = archive.right(budget, "advisory", selector)
        yield {
            "selector": selector,
            "strict_accuracy": archive.mean(strict, 100),
            "advisory_accuracy": archive.mean(advisory, 100),
            **archive.estimate("delta", minus(advisory, strict), 100),
        }


def by_competition(archive: Archive, budget: int) -> Iterator[Row]:
    strict, advisory = archive.right(budget, "strict"), archive.right(budget, "advisory")
    for competition in sorted({bank[1] for bank in archive.banks}):
        inside = [int(bank[1] == competition) for bank in archive.banks]
        replays = archive.orders * sum(inside)
        yield {
            "competition": competition,
            "strict_accuracy": 100 * dot(inside, strict) / replays,
            "advisory_accuracy": 100 * dot(inside, advisory) / replays,
            "delta": 100 * dot(inside, minus(advisory, strict)) / replays,
        }


def changes(archive: Archive, budget: int, selector: str, label: str) -> tuple[list, list]:
    """The fixes and the harms as pairs of strict and advisory selections."""
    strict, advisory = (archive.pooled(budget, rule, selector) for rule in ("strict", "advisory"))
    pairs = list(zip(strict, advisory, strict=True))
    fixes = [(s, a) for s, a in pairs if not s[label] and a[label]]
    harms = [(s, a) for s, a in pairs if s[label] and not a[label]]
    return fixes, harms


def transitions(archive: Archive, budget: int) -> Iterator[Row]:
    for selector in archive.selectors:
        fixes, harms = changes(archive, budget, selector, "correct")
        repaired_fixes, repaired_harms = changes(archive, budget, selector, "repaired_correct")
        replays = sum(archive.replays)
        yield {
            "selector": selector,
            "replays": replays,
            "abstain_to_correct": 100 * sum(s["abstained"] for s, a in fixes) / replays,
            "wrong_to_correct": 100 * sum(not s["abstained"] for s, a in fixes) / replays,
            "correct_to_wrong": 100 * len(harms) / replays,
            "fixes": len(fixes),
            "harms": len(harms),
            "harms_changing_answer": sum(s["vote"] != a["vote"] for s, a in harms),
            "repaired_fixes": len(repaired_fixes),
            "repaired_harms": len(repaired_harms),
        }


def selection_events(archive: Archive, budget: int) -> Iterator[Row]:
    for selector in archive.selectors:
        fixes, harms = changes(archive, budget, selector, "correct")
        for strict, advisory in fixes + harms:
            yield {
                "selector": selector,
                "competition": strict["competition"],
                "question_id": strict["question_id"],
                "repeat": strict["repeat"],
                "strict_seed": strict["seed"],
                "strict_answer": strict["answer"],
                "advisory_seed": advisory["seed"],
                "advisory_answer": advisory["answer"],
                "strict_correct": strict["correct"],
                "advisory_correct": advisory["correct"],
                "strict_repaired": strict["repaired_correct"],
                "advisory_repaired": advisory["repaired_correct"],
            }


def cost_comparisons(archive: Archive, budget: int) -> Iterator[Row]:
    for other in archive.budgets:
        ends = ((budget, "advisory"), (other, "strict"))
        cost, other_cost = (archive.cost(*end) for end in ends)
        prompt, other_prompt = (archive.sums("prompt_tokens", *end) for end in ends)
        right, other_right = (archive.right(*end) for end in ends)
        total, other_total = cost, other_cost
        if archive.adds_prompts:
            total = list(map(operator.add, cost, prompt))
            other_total = list(map(operator.add, other_cost, other_prompt))
        yield {
            "strict_budget": other,
            "advisory_cost": archive.mean(cost),
            "strict_cost": archive.mean(other_cost),
            **archive.estimate("cost_difference", minus(cost, other_cost)),
            **estimate("cost_ratio", archive.weights, cost, other_cost),
            "advisory_total": archive.mean(total),
            "strict_total": archive.mean(other_total),
            **archive.estimate("total_difference", minus(total, other_total)),
            "advisory_accuracy": archive.mean(right, 100),
            "strict_accuracy": archive.mean(other_right, 100),
            **archive.estimate("delta", minus(right, other_right), 100),
        }


def interpolation(archive: Archive, budget: int) -> Iterator[Row]:
    """Totals stand for means: within one replicate all means have the same denominator."""
    strict_cost = {b: archive.cost(b, "strict") for b in archive.budgets}
    strict_right = {b: archive.right(b, "strict") for b in archive.budgets}
    cost, right = archive.cost(budget, "advisory"), archive.right(budget, "advisory")

    def at(weights: list[int]) -> tuple | None:
        """Neighbours, weight, interpolated accuracy and difference for these problem counts."""
        costs = {b: dot(weights, strict_cost[b]) for b in archive.budgets}
        scores = {b: dot(weights, strict_right[b]) for b in archive.budgets}
        pair = neighbours(costs, dot(weights, cost))
        if pair is None:
            return None
        weight, score = interpolate(costs, scores, pair, dot(weights, cost))
        percent = Fraction(100, dot(weights, archive.replays))
        delta = percent * (dot(weights, right) - score)
        return pair, float(weight), float(percent * score), float(delta)

    point = at([1] * len(cost))
    if point is None:
        return
    drawn = [at(weights) for weights in archive.weights if sum(weights) > 0]
    inside = [each for each in drawn if each is not None]
    low, high = bounds([each[3] for each in inside])
    yield {
        "advisory_cost": archive.mean(cost),
        "left_budget": point[0][0],
        "right_budget": point[0][1],
        "weight": point[1],
        "advisory_accuracy": archive.mean(right, 100),
        "interpolated_accuracy": point[2],
        "delta": point[3],
        "delta_low": low,
        "delta_high": high,
        "switched": sum(each[0] != point[0] for each in inside),
        "extrapolated": len(drawn) - len(inside),
    }


def prefix_cost(archive: Archive, budget: int) -> Iterator[Row]:
    tokens = archive.sums("prefix_cost", budget, "strict")
    yield {
        "prefix_cost": archive.mean(tokens),
        "prefix_share": 100 * sum(tokens) / sum(archive.cost(budget, "strict")),
    }


def pools(archive: Archive, budget: int) -> Iterator[Row]:
    strict = [row["eligible"] for row in archive.pooled(budget, "strict")]
    advisory = [row["eligible"] for row in archive.pooled(budget, "advisory")]
    returned = [row["returned"] for row in archive.pooled(budget, "advisory")]
    costs = [row["cost"] for row in archive.pooled(budget, "advisory")]
    p95 = quantile(costs, Fraction(95, 100))
    yield {
        "strict_eligible": archive.mean(strict),
        "advisory_eligible": archive.mean(advisory),
        "strict_abstention": 100 * strict.count(0) / len(strict),
        "advisory_abstention": 100 * advisory.count(0) / len(advisory),
        "advisory_one_return": 100 * returned.count(1) / len(returned),
        "advisory_p95": p95,
        "p95_ratio": None if p95 is None else p95 / budget,
        "advisory_empty": advisory.count(0),
        "advisory_single": advisory.count(1),
        "advisory_multi": sum(count >= 2 for count in advisory),
    }


def grading(archive: Archive, budget: int) -> Iterator[Row]:
    gain = archive.gain(budget)
    strict, advisory = (
        archive.sums("repaired_correct", budget, rule, archive.primary_selector)
        for rule in ("strict", "advisory")
    )
    repaired_gain = minus(advisory, strict)
    yield {
        "source_delta": archive.mean(gain, 100),
        "repaired_delta": archive.mean(repaired_gain, 100),
        "change": archive.mean(minus(repaired_gain, gain), 100),
    }


def length_strata(archive: Archive, budget: int) -> Iterator[Row]:
    ranked = []
    for at, (bank, members) in enumerate(archive.banks.items()):
        median = quantile([attempt["cost"] for attempt in members], Fraction(1, 2))
        ranked.append((median, bank, at))
    places = [at for _, _, at in sorted(ranked)]
    half = len(places) // 2
    gain = archive.gain(budget)
    extra = minus(archive.cost(budget, "advisory"), archive.cost(budget, "strict"))
    for stratum, inside in (("shorter", places[:half]), ("longer", places[half:])):
        if inside:
            weights = [[drawn[at] for at in inside] for drawn in archive.weights]
            replays = [archive.orders] * len(inside)
            yield {
                "stratum": stratum,
                "problems": len(inside),
                **estimate("delta", weights, gain and [gain[at] for at in inside], replays, 100),
                "extra_cost": sum(extra[at] for at in inside) / sum(replays),
            }


def truncation_floor(archive: Archive, budget: int) -> Iterator[Row]:
    firsts = [order[0] for (*_, repeat), order in archive.sequences.items() if repeat > 0]
    advisory = [row["eligible"] for row in archive.pooled(budget, "advisory")]
    yield {
        "replays": len(firsts),
        "capped_first": sum(
            first["finish_reason"] == "length" and first["cost"] >= budget for first in firsts
        ),
        "advisory_abstention": 100 * advisory.count(0) / len(advisory),
    }


def cap_sensitivity(archive: Archive, budget: int) -> Iterator[Row]:
    for cap in archive.caps:
        gains = []  # per order, canonical first: the accuracy change summed over problems
        for repeat in range(archive.orders + 1):
            right = {"strict": 0, "advisory": 0}
            for bank, rule in itertools.product(archive.banks, RULES):
                selected = archive.cells[*bank, repeat, cap, budget, rule, archive.primary_selector]
                right[rule] += selected["correct"]
            gains.append(right["advisory"] - right["strict"])
        problems = len(archive.banks)
        random = [100 * gain / problems for gain in gains[1:]]
        yield {
            "cap": cap,
            "delta": 100 * sum(gains[1:]) / (problems * len(random)) if random else None,
            "canonical_delta": 100 * gains[0] / problems,
            "order_min": min(random, default=None),
            "order_max": max(random, default=None),
        }


def source_audit(archive: Archive) -> Iterator[Row]:
    for competition in sorted({bank[1] for bank in archive.banks}):
        records = [a for a in archive.attempts if a["competition"] == competition]
        boxed = [a for a in records if a["answer"] is not None]
        yield {
            "competition": competition,
            "records": len(records),
            "no_box": len(records) - len(boxed),
            "length": sum(a["finish_reason"] == "length" for a in records),
            "parser_agreement": sum(a["answer"] == a["archive_answer"] for a in boxed),
            "median_tokens": quantile([a["completion_tokens"] for a in records], Fraction(1, 2)),
        }


def grade_conflicts(archive: Archive) -> Iterator[Row]:
    for (_, competition, question), members in archive.banks.items():
        for answer in {attempt["answer"] for attempt in members} - {None}:
            group = [attempt for attempt in members if attempt["answer"] == answer]
            labels = [attempt["correct"] for attempt in group]
            if True in labels and False in labels:
                yield {
                    "competition": competition,
                    "question_id": question,
                    "answer": answer,
                    "correct_count": labels.count(True),
                    "incorrect_count": labels.count(False),
                    "resolved": len({attempt["repaired_correct"] for attempt in group}) == 1,
                }


def grade_repairs(archive: Archive) -> Iterator[Row]:
    resolved = [conflict["resolved"] for conflict in grade_conflicts(archive)]
    yield {
        "adjusted_labels": sum(a["correct"] != a["repaired_correct"] for a in archive.attempts),
        "conflict_groups": len(resolved),
        "resolved_groups": resolved.count(True),
    }


PER_BUDGET: tuple[Callable[[Archive, int], Iterator[Row]], ...] = (
    main, curves, selectors, by_competition, transitions, selection_events, cost_comparisons,
    interpolation, prefix_cost, pools, grading, length_strata, truncation_floor,
)  # fmt: skip
PER_ARCHIVE = (source_audit, grade_conflicts, grade_repairs)
# An archive without labels has no rows in these.
NEED_LABELS = (
    selectors, by_competition, transitions, selection_events, cap_sensitivity, grading,
    grade_conflicts, grade_repairs, interpolation,
)  # fmt: skip


def controls(archives: list[Archive]) -> Iterator[Row]:
    """Both rules select the same attempt when the budget is a completion boundary."""
    chosen = archives[0].chosen if archives else ()
    tally = {(name, s): [0, 0] for name in ("completed_prefix", "aligned_cost") for s in chosen}
    for archive in archives:
        step = math.gcd(*archive.budgets)
        for order, budget in itertools.product(archive.sequences.values(), archive.budgets):
            boundary = walk(order, archive.primary_cap, budget, "advisory").spent
            aligned = [attempt | {"cost": step, "steps": [step]} for attempt in order]
            for selector in archive.selectors:
                for name, attempts, limit in (
                    ("completed_prefix", order, boundary),
                    ("aligned_cost", aligned, budget),
                ):
                    pools = [walk(attempts, archive.primary_cap, limit, r).pool for r in RULES]
                    picked = [select(pool, selector, order) for pool in pools]
                    tally[name, selector][0] += 1
                    tally[name, selector][1] += picked[0] is not picked[1]
    for (name, selector), (comparisons, disagreements) in tally.items():
        if comparisons:
            yield {
                "control": name,
                "selector": selector,
                "comparisons": comparisons,
                "disagreements": disagreements,
            }
