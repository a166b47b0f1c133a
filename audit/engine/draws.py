"""All that chance decides, drawn by NumPy: the random orders and the bootstrap's counts."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.engine.batches import batches

# The columns of what is drawn.
DRAWN_COLUMNS = {
    "drawn_orders": "problem_id integer, bank_size integer, repeat integer, slots integer[]",
    "bootstrap_counts": "replicate integer, first_problem integer, counts utinyint[]",
}
BATCH_SLOTS = 2_000_000
PCG64_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
MASK_128 = 2**128 - 1
Words = npt.NDArray[np.uint32]
BATCH_COUNTS = 4_000_000
# Problems whose counts are one list: DuckDB takes 2,048 rows at a time.
PROBLEMS_IN_ROW = 1_000


def draw_orders(
    banks: Sequence[tuple[int, int, int, int]], orders: int, order_seed: int
) -> Iterator[pa.Table]:
    """Yield drawn_orders for banks of problem_id, competition_index, question_id and bank_size."""
    for batch in batches(banks, lambda bank: ((orders + 1) * bank[3],), (BATCH_SLOTS,)):
        seeds = [seed_words(order_seed, index, question, 0) for _, index, question, _ in batch]
        generators = _generators(seeds, orders)
        drawn = []
        for *_, bank_size in batch:
            slots = np.tile(np.arange(bank_size, dtype=np.int32), (orders + 1, 1))
            for order in slots[1:]:
                next(generators).shuffle(order)
            drawn.append(slots.ravel())
        problem_ids, *_, sizes = np.repeat(np.array(batch, np.int64), orders + 1, axis=0).T
        ends = np.concatenate([[0], np.cumsum(sizes)])
        yield pa.table(
            {
                "problem_id": arrow_array(problem_ids, np.int32),
                "bank_size": arrow_array(sizes, np.int32),
                "repeat": arrow_array(np.tile(np.arange(orders + 1), len(batch)), np.int32),
                "slots": _lists(ends, np.concatenate(drawn)),
            }
        )


def _generators(seeds: list[np.ndarray], orders: int) -> Iterator["np.random.Generator"]:
    """Yield a generator for every seed and repeat from 1, whose last word is the repeat.

    To make one takes eight times as long as a permutation. Its state follows from the seed by a
    few whole-number operations, here done for all at once, and one generator takes each in turn.
    """
    rng = np.random.Generator(np.random.PCG64(0))
    repeats = np.arange(1, orders + 1, dtype=np.uint32)
    # Seeds of one length are mixed together; most have as many words as numbers.
    for _, alike in groupby(seeds, len):
        words = np.repeat(np.stack(list(alike)), orders, axis=0)
        words[:, -1] = np.tile(repeats, len(words) // max(orders, 1))
        for state, increment in _states(words):
            rng.bit_generator.state = {
                "bit_generator": "PCG64",
                "state": {"state": state, "inc": increment},
                "has_uint32": 0,
                "uinteger": 0,
            }
            yield rng


def _states(seeds: np.ndarray) -> Iterator[tuple[int, int]]:
    """State and increment of PCG64 for seeds of as many words, as SeedSequence mixes them."""
    words = seeds.astype(np.uint32).T
    constant = 0x43B0D7E5

    def hashed(values: Words, multiplier: int) -> Words:
        nonlocal constant
        values = values ^ np.uint32(constant)
        constant = constant * multiplier & 0xFFFFFFFF
        values = values * np.uint32(constant)
        return values ^ values >> np.uint32(16)

    def mixed(values: Words, others: Words) -> Words:
        values = values * np.uint32(0xCA01F9DD) - hashed(others, 0x931E8875) * np.uint32(0x4973F715)
        return values ^ values >> np.uint32(16)

    none = np.zeros(words.shape[1], np.uint32)
    pool = [hashed(words[n] if n < len(words) else none, 0x931E8875) for n in range(4)]
    for source in range(4):
        for to in range(4):
            if source != to:
                pool[to] = mixed(pool[to], pool[source])
    for further in words[4:]:
        pool = [mixed(values, further) for values in pool]
    constant = 0x8B51F9DD
    halves = [hashed(pool[n % 4], 0x58F38DED).tolist() for n in range(8)]
    for a, b, c, d, e, f, g, h in zip(*halves, strict=True):
        start = (b << 96) + (a << 64) + (d << 32) + c
        increment = ((f << 97) + (e << 65) + (h << 33) + (g << 1) | 1) & MASK_128
        yield ((start + increment) * PCG64_MULTIPLIER + increment) & MASK_128, increment


def seed_words(*numbers: int) -> np.ndarray:
    """Return whole numbers as SeedSequence reads them: 32-bit words, the lowest first."""
    words = [
        number >> shift & 0xFFFFFFFF
        for number in numbers
        for shift in range(0, max(number.bit_length(), 1), 32)
    ]
    return np.array(words, dtype=np.uint32)


def arrow_array(numbers: np.ndarray, kind: npt.DTypeLike) -> pa.Array:
    """Return numbers as Arrow's; pa.array imports numpy.ma, which takes longer than all of this."""
    numbers = np.ascontiguousarray(numbers, kind)
    arrow = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(arrow, len(numbers), [None, pa.py_buffer(numbers)])


def _lists(ends: np.ndarray, numbers: np.ndarray) -> pa.Array:
    """Return numbers as lists that end there."""
    return pa.ListArray.from_arrays(
        arrow_array(ends, np.int32), arrow_array(numbers, numbers.dtype)
    )


def draw_counts(
    problems: Sequence[int], replicates: int, bootstrap_seed: int
) -> Iterator[pa.Table]:
    """Yield how often every replicate draws every problem: a row holds some problems' counts.

    `problems` holds how many problems each competition has, competitions in ascending name order:
    the order in which the stream is drawn, and that of problem_id. Replicate 0 draws every problem
    once: it is the point estimate.
    """
    rng = np.random.default_rng(bootstrap_seed)
    first_problem = 1
    # Competitions one by one, and small ones together.
    for sizes in batches(problems, lambda size: (size,), (PROBLEMS_IN_ROW,)):
        counts = np.ones((1, sum(sizes)), np.int64)
        # Several calls draw what one would.
        step = replicates if len(sizes) > 1 else max(1, BATCH_COUNTS // sizes[0])
        for first in range(1, replicates + 1, max(1, step)):
            rows = min(step, replicates + 1 - first)
            drawn = [rng.multinomial(size, np.full(size, 1 / size), size=rows) for size in sizes]
            # The point comes with the first of them.
            counts = np.vstack([counts, np.hstack(drawn)])
            yield _count_table(counts, first + rows - len(counts), first_problem)
            counts = counts[:0]
        if len(counts):
            yield _count_table(counts, 0, first_problem)
        first_problem += sum(sizes)


def _count_table(counts: np.ndarray, first_replicate: int, first_problem: int) -> pa.Table:
    """Rows of at most PROBLEMS_IN_ROW counts, a replicate after the other."""
    rows, problems = counts.shape
    # n draws over n problems: a count above 255 has a probability below 1e-500, so a byte holds it.
    assert counts.max() <= 255
    starts = np.arange(0, problems, PROBLEMS_IN_ROW)
    offsets = (np.arange(rows)[:, None] * problems + starts).ravel()
    return pa.table(
        {
            "replicate": arrow_array(
                np.repeat(np.arange(rows) + first_replicate, len(starts)), np.int32
            ),
            "first_problem": arrow_array(np.tile(starts + first_problem, rows), np.int32),
            "counts": _lists(np.append(offsets, counts.size), counts.astype(np.uint8).ravel()),
        }
    )
