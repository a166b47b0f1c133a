"""What the protocol fixes for every yardstick: settings, draws, and the columns of `main`."""

from collections.abc import Sequence
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


class Sums(NamedTuple):
    """What the replays of a bank or an archive add up to under one cap, budget and rule."""

    majority: int
    archive_majority: int
    max_logprob: int
    covered: int
    cost: int


class Tables(NamedTuple):
    """The rows of the tool's tables `main` and `selectors`."""

    main: list[Row]
    selectors: list[Row]


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


def add_rows(
    tables: Tables,
    key: tuple[str, int],
    replays: int,
    strict: Sums,
    advisory: Sums,
    intervals: Sequence[Sequence[float | None]],
) -> None:
    """Add the rows of an archive and budget; each selector comes with its change's interval."""
    names = {"archive": key[0], "budget": key[1]}
    by_selector = {
        selector: {
            "strict_accuracy": 100 * before / replays,
            "advisory_accuracy": 100 * after / replays,
            "delta": 100 * (after - before) / replays,
            "delta_low": low,
            "delta_high": high,
        }
        for selector, before, after, (low, high) in zip(
            SELECTORS, strict[:3], advisory[:3], intervals, strict=True
        )
    }
    tables.selectors.extend(
        {**names, "selector": selector, **by_selector[selector]} for selector in sorted(SELECTORS)
    )
    delta_coverage = 100 * (advisory.covered - strict.covered) / replays
    tables.main.append(
        {
            **names,
            **by_selector["majority"],
            "strict_coverage": 100 * strict.covered / replays,
            "advisory_coverage": 100 * advisory.covered / replays,
            "delta_coverage": delta_coverage,
            "gap_change": delta_coverage - by_selector["majority"]["delta"],
            "strict_cost": strict.cost / replays,
            "advisory_cost": advisory.cost / replays,
            "strict_cost_ratio": strict.cost / (replays * key[1]),
            "advisory_cost_ratio": advisory.cost / (replays * key[1]),
        }
    )
