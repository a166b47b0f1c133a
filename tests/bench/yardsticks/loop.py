"""A plain Python loop: every order attempt by attempt, for each cap, budget and rule."""

from collections import Counter, defaultdict
from operator import mul

import pyarrow as pa

from tests.bench.yardsticks.protocol import Settings, draw_counts, draw_order


def replay(attempts: pa.Table, settings: Settings) -> dict[tuple[str, int], list[float]]:
    """Return the accuracies of the majority under both rules, and the interval of their change."""
    banks = defaultdict(list)
    for row in attempts.to_pylist():
        banks[row["archive"], row["competition"], row["question_id"]].append(row)
    competitions = sorted({competition for _, competition, _ in banks})
    correct: Counter[tuple[str, int, str, str, int]] = Counter()
    for (archive, competition, question), bank in banks.items():
        index = competitions.index(competition)
        for repeat in range(1, settings.orders + 1):
            slots = draw_order(settings, index, question, repeat, len(bank))
            for cap in settings.caps:
                walk = [bank[slot] for slot in slots[:cap]]
                for budget in settings.budgets:
                    for rule, pool in pools(walk, budget).items():
                        picked = [pick(pool) for pick in (majority, archive_majority, likeliest)]
                        if cap == settings.primary_cap and picked[0] is not None:
                            key = (archive, budget, rule, competition, question)
                            correct[key] += picked[0]["correct"]
    problems = sorted({bank[1:] for bank in banks})
    draws = draw_counts(problems, settings).tolist()
    found = {}
    for archive in sorted({bank[0] for bank in banks}):
        for budget in settings.budgets:
            strict, advisory = (
                [correct[archive, budget, rule, *problem] for problem in problems]
                for rule in ("strict", "advisory")
            )
            gains = [after - before for before, after in zip(strict, advisory, strict=True)]
            changes = sorted(sum(map(mul, counts, gains)) for counts in draws)
            ends = (changes[round(share * len(draws))] for share in (0.025, 0.975))
            scale = 100 / (len(problems) * settings.orders)
            found[archive, budget] = [
                scale * value for value in (sum(strict), sum(advisory), *ends)
            ]
    return found


def pools(walk, budget):
    """Return the attempts that each rule returns of a walk."""
    spent, launched, finished = 0, 0, 0
    for attempt in walk:
        if spent >= budget:
            break
        spent += max(attempt["cost"], 1)
        launched += 1
        finished += spent <= budget
    return {"strict": walk[:finished], "advisory": walk[:launched]}


def majority(pool, answer="answer"):
    """Return the first attempt with the answer that has most votes, the first seen in a tie."""
    votes, first = Counter(), {}
    for attempt in pool:
        if attempt[answer] is not None:
            votes[attempt[answer]] += 1
            first.setdefault(attempt[answer], attempt)
    return first[max(votes, key=votes.get)] if votes else None


def archive_majority(pool):
    """Return the majority's attempt by the archive's own answers."""
    return majority(pool, "archive_answer")


def likeliest(pool):
    """Return the attempt with the largest mean log-probability, the first of several."""
    known = [attempt for attempt in pool if attempt["logprob"] is not None]
    return max(known, key=lambda attempt: attempt["logprob"], default=None)
