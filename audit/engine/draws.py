"""The random orders: the one place besides the bootstrap where chance enters, drawn by NumPy."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

BATCH_SLOTS = 1_000_000
BATCH_COUNTS = 1_000_000


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
            if repeat == 0:
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
    """Yield how often every replicate draws every problem, a row a replicate.

    `problems` holds how many problems each competition has, competitions in ascending name order:
    the order in which the stream is drawn, and that of problem_id. Replicate 0 draws every problem
    once: it is the point estimate. Counts are doubles, which hold whole numbers exactly, because
    DuckDB multiplies lists of those.
    """
    rng = np.random.default_rng(bootstrap_seed)
    drawn = [rng.multinomial(n, [1 / n] * n, size=replicates).astype(np.int32) for n in problems]
    counts = np.vstack([np.ones((1, sum(problems)), dtype=np.int32), np.hstack(drawn)])
    rows = max(1, BATCH_COUNTS // sum(problems))
    for first in range(0, replicates + 1, rows):
        batch = counts[first : first + rows]
        ends = np.arange(len(batch) + 1, dtype=np.int32) * sum(problems)
        values = pa.array(batch.astype(np.float64).ravel())
        yield pa.table(
            {
                "replicate": pa.array(np.arange(first, first + len(batch), dtype=np.int32)),
                "counts": pa.ListArray.from_arrays(pa.array(ends), values),
            }
        )
