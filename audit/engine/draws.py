"""All random numbers, drawn by NumPy: the random orders and the counts of the bootstrap."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.engine.batches import group_batches

# The columns of the two tables of draws.
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
    """Yield rows of drawn_orders: every bank's recorded order, then `orders` random ones.

    A bank is its problem_id, competition_index, question_id and bank_size.
    """
    for batch in group_batches(banks, lambda bank: ((orders + 1) * bank[3],), (BATCH_SLOTS,)):
        seeds = [split_words(order_seed, index, question, 0) for _, index, question, _ in batch]
        generators = _seed_generators(seeds, orders)
        slot_lists = []
        for *_, bank_size in batch:
            slots = np.tile(np.arange(bank_size, dtype=np.int32), (orders + 1, 1))
            for order in slots[1:]:
                next(generators).shuffle(order)
            slot_lists.append(slots.ravel())
        problem_ids, *_, sizes = np.repeat(np.array(batch, np.int64), orders + 1, axis=0).T
        ends = np.concatenate([[0], np.cumsum(sizes)])
        yield pa.table(
            {
                "problem_id": to_arrow(problem_ids, np.int32),
                "bank_size": to_arrow(sizes, np.int32),
                "repeat": to_arrow(np.tile(np.arange(orders + 1), len(batch)), np.int32),
                "slots": _make_lists(ends, np.concatenate(slot_lists)),
            }
        )


def _seed_generators(seeds: list[np.ndarray], orders: int) -> Iterator["np.random.Generator"]:
    """Yield a generator for each seed and each repeat from 1, as NumPy would seed it.

    This is a trick: creating a generator takes eight times as long as a permutation. So the states
    of all seeds are computed at once, and one generator is set to each state in turn.
    """
    rng = np.random.Generator(np.random.PCG64(0))
    repeats = np.arange(1, orders + 1, dtype=np.uint32)
    # The states of neighbouring seeds of one length are computed together.
    for _, alike in groupby(seeds, len):
        words = np.repeat(np.stack(list(alike)), orders, axis=0)
        words[:, -1] = np.tile(repeats, len(words) // max(orders, 1))
        for state, increment in _compute_states(words):
            rng.bit_generator.state = {
                "bit_generator": "PCG64",
                "state": {"state": state, "inc": increment},
                "has_uint32": 0,
                "uinteger": 0,
            }
            yield rng


def _compute_states(seeds: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the state and increment of PCG64 for each row of seed words, as SeedSequence does."""
    words = seeds.astype(np.uint32).T
    constant = 0x43B0D7E5

    def hash_words(values: Words, multiplier: int) -> Words:
        nonlocal constant
        values = values ^ np.uint32(constant)
        constant = constant * multiplier & 0xFFFFFFFF
        values = values * np.uint32(constant)
        return values ^ values >> np.uint32(16)

    def mix(values: Words, others: Words) -> Words:
        hashed = hash_words(others, 0x931E8875)
        values = values * np.uint32(0xCA01F9DD) - hashed * np.uint32(0x4973F715)
        return values ^ values >> np.uint32(16)

    none = np.zeros(words.shape[1], np.uint32)
    pool = [hash_words(words[n] if n < len(words) else none, 0x931E8875) for n in range(4)]
    for source in range(4):
        for to in range(4):
            if source != to:
                pool[to] = mix(pool[to], pool[source])
    for further in words[4:]:
        pool = [mix(values, further) for values in pool]
    constant = 0x8B51F9DD
    halves = [hash_words(pool[n % 4], 0x58F38DED).tolist() for n in range(8)]
    for a, b, c, d, e, f, g, h in zip(*halves, strict=True):
        start = (b << 96) + (a << 64) + (d << 32) + c
        increment = ((f << 97) + (e << 65) + (h << 33) + (g << 1) | 1) & MASK_128
        yield ((start + increment) * PCG64_MULTIPLIER + increment) & MASK_128, increment


def split_words(*numbers: int) -> np.ndarray:
    """Return the 32-bit words into which SeedSequence splits whole numbers, the lowest first."""
    words = [
        number >> shift & 0xFFFFFFFF
        for number in numbers
        for shift in range(0, max(number.bit_length(), 1), 32)
    ]
    return np.array(words, dtype=np.uint32)


def to_arrow(numbers: np.ndarray, kind: npt.DTypeLike) -> pa.Array:
    """Return numbers as an Arrow array without pa.array, whose import of numpy.ma takes longer."""
    numbers = np.ascontiguousarray(numbers, kind)
    arrow = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(arrow, len(numbers), [None, pa.py_buffer(numbers)])


def _make_lists(ends: np.ndarray, numbers: np.ndarray) -> pa.Array:
    """Return an Arrow array of lists: the numbers cut at `ends`, which begin with 0."""
    return pa.ListArray.from_arrays(to_arrow(ends, np.int32), to_arrow(numbers, numbers.dtype))


def draw_counts(
    problems: Sequence[int], replicates: int, bootstrap_seed: int
) -> Iterator[pa.Table]:
    """Yield rows of bootstrap_counts: how often each replicate draws each problem.

    `problems` is the number of problems of each competition, by ascending name: the order in which
    the stream is drawn, and that of problem_id. Replicate 0 draws every problem once: it is the
    point estimate.
    """
    rng = np.random.default_rng(bootstrap_seed)
    first_problem = 1
    # A batch is one large competition or several small ones.
    for sizes in group_batches(problems, lambda size: (size,), (PROBLEMS_IN_ROW,)):
        counts = np.ones((1, sum(sizes)), np.int64)
        # Drawing a large competition in steps consumes the same stream as one call.
        step = replicates if len(sizes) > 1 else max(1, BATCH_COUNTS // sizes[0])
        for first in range(1, replicates + 1, max(1, step)):
            rows = min(step, replicates + 1 - first)
            drawn = [rng.multinomial(size, np.full(size, 1 / size), size=rows) for size in sizes]
            # Replicate 0 is in the first table.
            counts = np.vstack([counts, np.hstack(drawn)])
            yield _make_count_table(counts, first + rows - len(counts), first_problem)
            counts = counts[:0]
        if len(counts):
            yield _make_count_table(counts, 0, first_problem)
        first_problem += sum(sizes)


def _make_count_table(counts: np.ndarray, first_replicate: int, first_problem: int) -> pa.Table:
    """Return counts as a table: rows of up to PROBLEMS_IN_ROW problems, replicate by replicate."""
    rows, problems = counts.shape
    # n draws over n problems: a count above 255 has a probability below 1e-500, so a byte holds it.
    assert counts.max() <= 255
    starts = np.arange(0, problems, PROBLEMS_IN_ROW)
    offsets = (np.arange(rows)[:, None] * problems + starts).ravel()
    return pa.table(
        {
            "replicate": to_arrow(
                np.repeat(np.arange(rows) + first_replicate, len(starts)), np.int32
            ),
            "first_problem": to_arrow(np.tile(starts + first_problem, rows), np.int32),
            "counts": _make_lists(np.append(offsets, counts.size), counts.astype(np.uint8).ravel()),
        }
    )
