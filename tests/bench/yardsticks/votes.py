"""scorio's `majority_vote` in a loop over pools: all problems of an archive at a time.

Where an attempt is outside a problem's pool it has no answer, which scorio takes for no vote. A
tie goes to the answer seen first, and its first attempt stands for it: the tool's own rule.
"""

from typing import NamedTuple

import numpy as np
from scorio.aggregate import majority_vote

from tests.bench.yardsticks.loop import Attempt, Bank, walk
from tests.bench.yardsticks.protocol import RULES, Row, Settings, draw_order


class Pools(NamedTuple):
    """The pools of one archive, order, budget and rule: problems by positions."""

    answers: np.ndarray
    correct: np.ndarray


def prepare(
    banks: dict[Bank, list[Attempt]], settings: Settings
) -> dict[tuple[str, int, str], list[Pools]]:
    """The pools of every archive, budget and rule, one after another by order."""
    numbers = {name: t for t, name in enumerate(sorted({name for _, name, _ in banks}))}
    pools: dict[tuple[str, int, str], list[Pools]] = {}
    for archive in sorted({bank[0] for bank in banks}):
        mine = {bank: attempts for bank, attempts in banks.items() if bank[0] == archive}
        for repeat in range(1, settings.orders + 1):
            orders = []
            for (_, competition, question), attempts in mine.items():
                key = (numbers[competition], question, repeat, len(attempts))
                slots = draw_order(settings, *key)[: settings.primary_cap]
                orders.append([attempts[slot] for slot in slots])
            for budget in settings.budgets:
                for rule in RULES:
                    members = [walk(order, budget, rule)[0] for order in orders]
                    pools.setdefault((archive, budget, rule), []).append(arrays(members, settings))
    return pools


def arrays(members: list[list[Attempt]], settings: Settings) -> Pools:
    """Pools of different sizes as two rectangles."""
    found = Pools(
        np.full((len(members), settings.primary_cap), None, object),
        np.zeros((len(members), settings.primary_cap), bool),
    )
    for row, pool in enumerate(members):
        found.answers[row, : len(pool)] = [attempt.answer for attempt in pool]
        found.correct[row, : len(pool)] = [attempt.correct for attempt in pool]
    return found


def accuracies(pools: dict[tuple[str, int, str], list[Pools]]) -> list[Row]:
    """The accuracy of scorio's choices, by archive and budget."""
    scores: dict[tuple[str, int], Row] = {}
    for (archive, budget, rule), drawn in pools.items():
        right = asked = 0
        for answers, correct in drawn:
            _, index = majority_vote(answers, return_index=True)
            right += np.count_nonzero(correct[np.arange(len(index)), index] & (index >= 0))
            asked += len(index)
        row = scores.setdefault((archive, budget), {"archive": archive, "budget": budget})
        row[f"{rule}_accuracy"] = 100 * right / asked
    return list(scores.values())
