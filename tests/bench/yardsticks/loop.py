"""A plain Python loop: every replay walks its attempts and every pool votes anew."""

import math
from collections import Counter, defaultdict
from itertools import product
from operator import mul
from typing import NamedTuple

import pyarrow as pa

from tests.bench.yardsticks.protocol import (
    RULES,
    SELECTORS,
    Settings,
    Sums,
    Tables,
    add_rows,
    draw_counts,
    draw_order,
)

Bank = tuple[str, str, int]


class Attempt(NamedTuple):
    """One attempt; an answer or a log-probability that may not be picked is None."""

    cost: int
    answer: str | None
    archive_answer: str | None
    logprob: float | None
    correct: bool


def prepare(attempts: pa.Table) -> dict[Bank, list[Attempt]]:
    """The attempts of every bank by ascending seed."""
    banks: dict[Bank, list[Attempt]] = {}
    for archive, competition, question, *fields in zip(
        *(column.to_pylist() for column in attempts.columns), strict=True
    ):
        banks.setdefault((archive, competition, question), []).append(Attempt(*fields))
    return banks


def walk(order: list[Attempt], budget: int, rule: str) -> tuple[list[Attempt], int]:
    """The attempts that a rule returns, and what it pays."""
    pool: list[Attempt] = []
    spent = 0
    for attempt in order:
        if spent >= budget:
            break
        if rule == "strict" and spent + attempt.cost > budget:
            return pool, budget
        spent += attempt.cost
        pool.append(attempt)
    return pool, spent


def is_majority_correct(votes: list[tuple[str | None, bool]]) -> bool:
    """The label of the winning answer's earliest attempt; a tie goes to the answer seen first."""
    tally = Counter([answer for answer, _ in votes if answer is not None])
    if not tally:
        return False
    winner = max(tally, key=tally.__getitem__)
    return next(correct for answer, correct in votes if answer == winner)


def is_likeliest_correct(pool: list[Attempt]) -> bool:
    """The label of the attempt with the largest log-probability, the earliest of those."""
    rated = [attempt for attempt in pool if attempt.logprob is not None]
    return bool(rated) and max(rated, key=lambda attempt: attempt.logprob).correct


def replay(banks: dict[Bank, list[Attempt]], settings: Settings) -> dict[tuple, list[int]]:
    """By bank, cap, budget and rule: sums of correct (per selector), covered, and cost."""
    numbers = {name: t for t, name in enumerate(sorted({name for _, name, _ in banks}))}
    drawn: dict[tuple, list[int]] = {}
    totals: dict[tuple, list[int]] = {}
    conditions = list(product(settings.caps, settings.budgets, RULES))
    for bank, attempts in banks.items():
        _, competition, question = bank
        sums = {condition: [0, 0, 0, 0, 0] for condition in conditions}
        for repeat in range(1, settings.orders + 1):
            key = (numbers[competition], question, repeat, len(attempts))
            if key not in drawn:
                drawn[key] = draw_order(settings, *key).tolist()
            order = [attempts[slot] for slot in drawn[key]]
            for cap, budget, rule in conditions:
                pool, cost = walk(order[:cap], budget, rule)
                votes = [(attempt.answer, attempt.correct) for attempt in pool]
                archive_votes = [(attempt.archive_answer, attempt.correct) for attempt in pool]
                here = sums[cap, budget, rule]
                here[0] += is_majority_correct(votes)
                here[1] += is_majority_correct(archive_votes)
                here[2] += is_likeliest_correct(pool)
                here[3] += any(correct for answer, correct in votes if answer is not None)
                here[4] += cost
        totals |= {(bank, *condition): found for condition, found in sums.items()}
    return totals


def quantile(ranked: list[float], level: float) -> float | None:
    """The quantile of sorted values with linear interpolation."""
    if not ranked:
        return None
    place = (len(ranked) - 1) * level
    left = math.floor(place)
    right = min(left + 1, len(ranked) - 1)
    return ranked[left] + (ranked[right] - ranked[left]) * (place - left)


def tabulate(
    banks: dict[Bank, list[Attempt]], totals: dict[tuple, list[int]], settings: Settings
) -> Tables:
    """The rows of the tables, their intervals summed replicate by replicate."""
    problems = sorted({bank[1:] for bank in banks})
    counts = draw_counts(problems, settings).tolist()
    by_archive = defaultdict(list)
    for bank in sorted(banks):
        by_archive[bank[0]].append(bank)
    tables = Tables([], [])
    for archive, members in by_archive.items():
        columns = [problems.index(bank[1:]) for bank in members]
        weights = [[count[column] for column in columns] for count in counts]
        drawn = [(weight, total) for weight in weights if (total := sum(weight)) > 0]
        for budget in settings.budgets:
            strict, advisory = (
                [totals[bank, settings.primary_cap, budget, rule] for bank in members]
                for rule in RULES
            )
            intervals = []
            for selector in range(len(SELECTORS)):
                gains = [
                    after[selector] - before[selector]
                    for before, after in zip(strict, advisory, strict=True)
                ]
                intervals.append(interval(gains, drawn, settings.orders))
            sums = (Sums(*map(sum, zip(*found, strict=True))) for found in (strict, advisory))
            add_rows(tables, (archive, budget), settings.orders * len(members), *sums, intervals)
    return tables


def interval(
    gains: list[int], drawn: list[tuple[list[int], int]], orders: int
) -> tuple[float | None, float | None]:
    """The 95 % interval of an accuracy change, from its sum over the orders of each problem."""
    values = sorted(
        100 * sum(map(mul, weight, gains)) / (orders * total) for weight, total in drawn
    )
    return quantile(values, 0.025), quantile(values, 0.975)
