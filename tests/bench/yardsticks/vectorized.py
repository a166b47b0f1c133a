"""NumPy by hand: each order's prefixes once, all orders at a time; budgets are looked up in them.

Orders are padded to the largest cap with attempts that cost nothing and may not be picked: they
change neither a pool's choice nor its cost.
"""

from typing import NamedTuple

import numpy as np
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

BLOCK_ROWS = 8192  # orders replayed together: their states fit in the cache


class Form(NamedTuple):
    """Banks by slots; the last slot of each is padding. Answer 0 is no vote."""

    banks: list[tuple[str, str, int]]
    sizes: np.ndarray
    cost: np.ndarray
    answer: np.ndarray
    archive_answer: np.ndarray
    logprob: np.ndarray
    correct: np.ndarray


def prepare(attempts: pa.Table) -> Form:
    """The attempts as one array per field."""
    columns = attempts.to_pydict()
    keys = list(
        zip(columns["archive"], columns["competition"], columns["question_id"], strict=True)
    )
    banks = list(dict.fromkeys(keys))
    numbers = {bank: at for at, bank in enumerate(banks)}
    row = np.array([numbers[key] for key in keys])
    sizes = np.bincount(row)
    slot = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)

    def padded(values, dtype, padding=0):
        array = np.full((len(banks), sizes.max() + 1), padding, dtype)
        array[row, slot] = values
        return array

    def ids(name: str) -> np.ndarray:
        """Number the answers of each bank from 1."""
        met: list[dict[str, int]] = [{} for _ in banks]
        found = [
            0 if answer is None else met[at].setdefault(answer, len(met[at]) + 1)
            for at, answer in zip(row, columns[name], strict=True)
        ]
        return padded(found, np.int32)

    return Form(
        banks,
        sizes,
        padded(columns["cost"], np.int64),
        ids("answer"),
        ids("archive_answer"),
        padded(np.array(columns["logprob"], float), float, np.nan),
        padded(columns["correct"], bool),
    )


def draw_slots(form: Form, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """The first positions of every drawn order, and which of the drawn ones each bank has."""
    competitions = sorted({competition for _, competition, _ in form.banks})
    length = max(settings.caps)
    padding = form.cost.shape[1] - 1
    asked = [
        (competitions.index(competition), question, int(size))
        for (_, competition, question), size in zip(form.banks, form.sizes, strict=True)
    ]
    distinct = list(dict.fromkeys(asked))
    slots = np.full((len(distinct), settings.orders, length), padding)
    for at, (competition, question, size) in enumerate(distinct):
        for repeat in range(settings.orders):
            order = draw_order(settings, competition, question, repeat + 1, size)
            slots[at, repeat, :size] = order[:length]
    return slots, np.array([distinct.index(key) for key in asked])


def majority_leaders(answers: np.ndarray) -> np.ndarray:
    """The position (from 1) of each prefix's majority representative, 0 for none.

    An answer's key grows with its votes and falls with the position it was first seen at, so the
    largest key so far is the leader's.
    """
    length, rows = answers.shape
    keys = np.zeros((rows, answers.max() + 1), np.int32)
    every = np.arange(rows)
    leaders = np.zeros((length + 1, rows), np.int32)
    for position in range(1, length + 1):
        answer = answers[position - 1]
        before = keys[every, answer]
        key = np.where(before > 0, before + length, 2 * length - position)
        keys[every, answer] = key
        np.maximum(leaders[position - 1], np.where(answer > 0, key, 0), out=leaders[position])
    return np.where(leaders > 0, length - leaders % length, 0)


def likeliest(logprobs: np.ndarray) -> np.ndarray:
    """The position (from 1) of each prefix's largest log-probability, 0 for none."""
    length, rows = logprobs.shape
    best = np.full((length + 1, rows), -np.inf)
    np.fmax.accumulate(logprobs, axis=0, out=best[1:])
    best[1:][np.isnan(best[1:])] = -np.inf
    positions = np.arange(1, length + 1, dtype=np.int32)[:, None]
    found = np.zeros((length + 1, rows), np.int32)
    np.maximum.accumulate(np.where(best[1:] > best[:-1], positions, 0), axis=0, out=found[1:])
    return found


def replay(form: Form, settings: Settings) -> np.ndarray:
    """Sums by rule, cap, quantity (correct of each selector, covered, cost), budget and bank."""
    slots, drawn = draw_slots(form, settings)
    shape = (len(RULES), len(settings.caps), len(SELECTORS) + 2, len(settings.budgets))
    totals = np.empty((*shape, len(form.banks)), np.int64)
    step = max(BLOCK_ROWS // settings.orders, 1)
    for first in range(0, len(form.banks), step):
        block = slice(first, first + step)
        totals[..., block] = replay_block(form, block, slots[drawn[block]], settings)
    return totals


def replay_block(form: Form, block: slice, slots: np.ndarray, settings: Settings) -> np.ndarray:
    """The sums of some banks; their orders are the columns of every array, positions the rows."""
    banks, orders, length = slots.shape
    rows = banks * orders
    slots = slots.transpose(2, 0, 1).reshape(length, rows)
    bank = np.repeat(np.arange(block.start, block.start + banks), orders)
    correct = np.zeros((length + 1, rows), bool)
    correct[1:] = form.correct[bank, slots]
    answers = form.answer[bank, slots]
    spent = np.zeros((length + 1, rows), np.int64)
    np.cumsum(form.cost[bank, slots], axis=0, out=spent[1:])
    every = np.arange(rows)
    states = np.zeros((length + 1, rows, len(SELECTORS) + 1), np.uint8)
    states[..., 0] = correct[majority_leaders(answers), every]
    states[..., 1] = correct[majority_leaders(form.archive_answer[bank, slots]), every]
    states[..., 2] = correct[likeliest(form.logprob[bank, slots]), every]
    np.logical_or.accumulate(correct[1:] & (answers > 0), axis=0, out=states[1:, :, 3].view(bool))

    budgets = np.array(settings.budgets)[:, None]
    launched, returned = prefix_lengths(spent, budgets)
    found = np.empty((2, len(settings.caps), 5, len(budgets), banks), np.int64)
    for at, cap in enumerate(settings.caps):
        for rule, lengths in enumerate((returned, launched)):
            prefix = np.minimum(lengths, cap)
            sums = states[prefix, every].reshape(len(budgets), banks, orders, 4).sum(2, np.int64)
            found[rule, at, :4] = sums.transpose(2, 0, 1)
            cost = np.minimum(budgets, spent[cap]) if rule == 0 else spent[prefix, every]
            found[rule, at, 4] = cost.reshape(len(budgets), banks, orders).sum(2)
    return found


def prefix_lengths(spent: np.ndarray, budgets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many attempts are launched and how many strictly return, by budget and order.

    One search serves all orders: each order's costs are moved beyond those of the order before.
    """
    length, rows = spent.shape[0] - 1, spent.shape[1]
    apart = np.arange(rows) * (max(int(spent[-1].max()), int(budgets.max())) + 1)
    ladder = (spent[1:] + apart).T.ravel()
    begins = np.arange(rows) * length
    launched = np.searchsorted(ladder, budgets + apart) - begins + 1
    returned = np.searchsorted(ladder, budgets + apart, side="right") - begins
    return launched, returned


def tabulate(form: Form, totals: np.ndarray, settings: Settings) -> Tables:
    """The rows of the tables; a matrix product weighs all problems of all replicates."""
    problems = sorted({bank[1:] for bank in form.banks})
    counts = draw_counts(problems, settings).astype(float)
    cap = settings.caps.index(settings.primary_cap)
    tables = Tables([], [])
    for archive in sorted({bank[0] for bank in form.banks}):
        mine = [at for at, bank in enumerate(form.banks) if bank[0] == archive]
        weights = counts[:, [problems.index(form.banks[at][1:]) for at in mine]]
        sums = totals[:, cap][..., mine]
        ends = intervals(weights, sums[1, :3] - sums[0, :3], settings.orders).tolist()
        strict, advisory = sums.sum(-1).transpose(0, 2, 1).tolist()
        for at, budget in enumerate(settings.budgets):
            both = (Sums(*strict[at]), Sums(*advisory[at]))
            add_rows(tables, (archive, budget), settings.orders * len(mine), *both, ends[at])
    return tables


def intervals(weights: np.ndarray, gains: np.ndarray, orders: int) -> np.ndarray:
    """The ends of the 95 % interval of every budget and selector."""
    drawn = weights.sum(1)
    if not drawn.any():
        return np.full((gains.shape[1], gains.shape[0], 2), None)
    weights, drawn = weights[drawn > 0], drawn[drawn > 0]
    selectors, budgets, problems = gains.shape
    sums = weights @ gains.reshape(-1, problems).T.astype(float)
    values = 100 * sums / (orders * drawn[:, None])
    ends = np.quantile(values, (0.025, 0.975), axis=0)
    return ends.reshape(2, selectors, budgets).transpose(2, 1, 0)
