"""What the protocol fixes for every yardstick: settings, draws, and the columns of `main`."""

from typing import Any, NamedTuple

import numpy as np

Row = dict[str, Any]

RULES = ("strict", "advisory")
SELECTORS = ("majority", "archive_majority", "max_logprob")
ATTEMPTS = """
    select
        archive,
        competition,
        question_id,
        completion_tokens as cost,
        case when finish_reason = 'stop' then answer end as answer,
        case when finish_reason = 'stop' then archive_answer end as archive_answer,
        case when finish_reason = 'stop' and answer is not null then mean_logprob end as logprob,
        correct,
    from attempts
    inner join grades using (archive, competition, question_id, seed)
    order by archive, competition, question_id, seed
"""


class Settings(NamedTuple):
    """What a replay is asked for; the defaults are the protocol's."""

    orders: int = 20
    budgets: tuple[int, ...] = (4000, 8000, 16000, 32000)
    caps: tuple[int, ...] = (8, 16, 32)
    primary_cap: int = 16
    replicates: int = 5000
    order_seed: int = 20260904
    bootstrap_seed: int = 20260905


class Totals(NamedTuple):
    """Sums over the replays of an archive under one budget and rule at the primary cap."""

    correct: int
    covered: int
    cost: int


def draw_order(settings: Settings, competition: int, question: int, repeat: int, size: int):
    """The slots of a bank in the order of one repeat."""
    seeds = [settings.order_seed, competition, question, repeat]
    return np.random.default_rng(np.random.SeedSequence(seeds)).permutation(size)


def draw_counts(problems: list[tuple[str, int]], settings: Settings) -> np.ndarray:
    """How often each replicate (a row) draws each of the sorted problems (a column)."""
    rng = np.random.default_rng(settings.bootstrap_seed)
    competitions = [competition for competition, _ in problems]
    drawn = []
    for competition in sorted(set(competitions)):
        n = competitions.count(competition)
        drawn.append(rng.multinomial(n, [1 / n] * n, size=settings.replicates))
    return np.hstack(drawn)


def main_row(
    archive: str,
    budget: int,
    replays: int,
    strict: Totals,
    advisory: Totals,
    interval: tuple[float | None, float | None],
) -> Row:
    """One row of `main`."""
    delta = 100 * (advisory.correct - strict.correct) / replays
    delta_coverage = 100 * (advisory.covered - strict.covered) / replays
    return {
        "archive": archive,
        "budget": budget,
        "strict_accuracy": 100 * strict.correct / replays,
        "advisory_accuracy": 100 * advisory.correct / replays,
        "delta": delta,
        "delta_low": interval[0],
        "delta_high": interval[1],
        "strict_coverage": 100 * strict.covered / replays,
        "advisory_coverage": 100 * advisory.covered / replays,
        "delta_coverage": delta_coverage,
        "gap_change": delta_coverage - delta,
        "strict_cost": strict.cost / replays,
        "advisory_cost": advisory.cost / replays,
        "strict_cost_ratio": strict.cost / (replays * budget),
        "advisory_cost_ratio": advisory.cost / (replays * budget),
    }
