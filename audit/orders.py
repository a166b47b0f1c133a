"""The random orders: the one place besides the bootstrap where chance enters, drawn by NumPy."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

BATCH_ROWS = 1_000_000


def draw_orders(
    banks: Sequence[tuple[int, int, int, int]],
    orders: int,
    order_seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[pa.Table]:
    """Yield order_slots rows for (problem_id, competition_index, question_id, bank_size) banks."""
    pending: list[tuple[int, int, int, np.ndarray]] = []
    pending_rows = 0
    for done, (problem_id, competition_index, question_id, bank_size) in enumerate(banks, 1):
        pending.append((problem_id, bank_size, 0, np.arange(bank_size)))
        for repeat in range(1, orders + 1):
            seed = np.random.SeedSequence([order_seed, competition_index, question_id, repeat])
            slots = np.random.default_rng(seed).permutation(bank_size)
            pending.append((problem_id, bank_size, repeat, slots))
        pending_rows += bank_size * (orders + 1)
        if pending_rows >= BATCH_ROWS:
            yield _order_table(pending)
            pending, pending_rows = [], 0
        if progress:
            progress(done, len(banks))
    if pending:
        yield _order_table(pending)


def _order_table(drawn: list[tuple[int, int, int, np.ndarray]]) -> pa.Table:
    """One row per position of the drawn orders."""
    sizes = np.array([bank_size for _, bank_size, _, _ in drawn])
    columns = {
        "problem_id": np.repeat([problem_id for problem_id, _, _, _ in drawn], sizes),
        "bank_size": np.repeat(sizes, sizes),
        "repeat": np.repeat([repeat for _, _, repeat, _ in drawn], sizes),
        "position": np.concatenate([np.arange(1, size + 1) for size in sizes]),
        "slot": np.concatenate([slots for _, _, _, slots in drawn]),
    }
    return pa.table({name: pa.array(values.astype(np.int32)) for name, values in columns.items()})
