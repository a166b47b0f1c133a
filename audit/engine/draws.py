"""The random orders: the one place besides the bootstrap where chance enters, drawn by NumPy."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

BATCH_SLOTS = 1_000_000
BATCH_COUNTS = 4_000_000
# Problems whose counts are one list: DuckDB takes 2,048 rows at a time.
PROBLEMS_IN_ROW = 1_000


def draw_orders(
    banks: Sequence[tuple[int, int, int, int]],
    orders: int,
    order_seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[pa.Table]:
    """Yield order_slots rows for (problem_id, competition_index, question_id, bank_size) banks."""
    keys: list[tuple[int, int, int]] = []
    drawn: list[np.ndarray] = []
    pending = 0
    for done, (problem_id, competition_index, question_id, bank_size) in enumerate(banks, 1):
        # NumPy takes the seeds apart by itself too, but that takes as long as the draw.
        seed = seed_words(order_seed, competition_index, question_id, 0)
        for repeat in range(orders + 1):
            if repeat == 0 or bank_size == 1:
                slots = np.arange(bank_size)
            else:
                seed[-1] = repeat
                slots = np.random.default_rng(seed).permutation(bank_size)
            keys.append((problem_id, bank_size, repeat))
            drawn.append(slots)
            pending += bank_size
            if pending >= BATCH_SLOTS:
                yield _order_table(keys, drawn)
                keys, drawn, pending = [], [], 0
        if progress:
            progress(done, len(banks))
    if keys:
        yield _order_table(keys, drawn)


def seed_words(*numbers: int) -> np.ndarray:
    """The 32-bit words, lowest first, as which SeedSequence reads a list of whole numbers."""
    words = [
        number >> shift & 0xFFFFFFFF
        for number in numbers
        for shift in range(0, max(number.bit_length(), 1), 32)
    ]
    return np.array(words, dtype=np.uint32)


def _order_table(keys: list[tuple[int, int, int]], drawn: list[np.ndarray]) -> pa.Table:
    """One row per drawn order: its bank, its number, and its slots from first to last."""
    problem_ids, sizes, repeats = np.array(keys, dtype=np.int32).T
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    slots = pa.array(np.concatenate(drawn).astype(np.int32))
    return pa.table(
        {
            "problem_id": pa.array(problem_ids),
            "bank_size": pa.array(sizes),
            "repeat": pa.array(repeats),
            "slots": pa.ListArray.from_arrays(pa.array(ends), slots),
        }
    )


def draw_weights(
    problems: Sequence[int], replicates: int, bootstrap_seed: int
) -> Iterator[pa.Table]:
    """Yield how often every replicate draws every problem: a row holds some problems' counts.

    `problems` holds how many problems each competition has, competitions in ascending name order:
    the order in which the stream is drawn, and that of problem_id. Replicate 0 draws every problem
    once: it is the point estimate.
    """
    rng = np.random.default_rng(bootstrap_seed)
    first_problem = 1
    for sizes in _neighbours(problems):
        counts = np.ones((1, sum(sizes)), np.int64)
        yield _count_table(counts, 0, first_problem)
        # Several calls draw what one would.
        step = replicates if len(sizes) > 1 else max(1, BATCH_COUNTS // sizes[0])
        for first in range(1, replicates + 1, max(1, step)):
            rows = min(step, replicates + 1 - first)
            drawn = [rng.multinomial(size, np.full(size, 1 / size), size=rows) for size in sizes]
            yield _count_table(np.hstack(drawn), first, first_problem)
        first_problem += sum(sizes)


def _neighbours(problems: Sequence[int]) -> Iterator[list[int]]:
    """Competitions one by one, and small ones together."""
    held: list[int] = []
    for size in problems:
        if held and sum(held) + size > PROBLEMS_IN_ROW:
            yield held
            held = []
        held.append(size)
    yield held


def _count_table(counts: np.ndarray, first_replicate: int, first_problem: int) -> pa.Table:
    """Rows of at most PROBLEMS_IN_ROW counts, a replicate after the other."""
    rows, problems = counts.shape
    # Of as many draws as there are problems, more than 255 never fall on one.
    assert counts.max() <= 255
    starts = np.arange(0, problems, PROBLEMS_IN_ROW)
    offsets = (np.arange(rows)[:, None] * problems + starts).ravel()
    return pa.table(
        {
            "replicate": np.repeat(np.arange(rows, dtype=np.int32) + first_replicate, len(starts)),
            "first_problem": np.tile(starts.astype(np.int32) + first_problem, rows),
            "counts": pa.ListArray.from_arrays(
                np.append(offsets, counts.size).astype(np.int32),
                pa.array(counts.astype(np.uint8).ravel()),
            ),
        }
    )
