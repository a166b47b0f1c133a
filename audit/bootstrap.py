"""The bootstrap's multinomial counts; everything done with them is SQL."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

BATCH_COUNTS = 1_000_000


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
