"""The bootstrap's multinomial counts; everything done with them is SQL."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa


def draw_weights(
    competitions: Sequence[Sequence[int]], replicates: int, bootstrap_seed: int
) -> Iterator[pa.Table]:
    """Yield how often every replicate draws every problem, a competition at a time.

    `competitions` holds the problem ids of each competition in ascending question_id,
    competitions in ascending name order: the order in which the stream is drawn.
    Replicate 0 draws every problem once: it is the point estimate. Zeros are left out.
    """
    rng = np.random.default_rng(bootstrap_seed)
    for problem_ids in competitions:
        n = len(problem_ids)
        drawn = rng.multinomial(n, [1 / n] * n, size=replicates)
        counts = np.vstack([np.ones((1, n), dtype=drawn.dtype), drawn])
        replicate, column = np.nonzero(counts)
        yield pa.table(
            {
                "replicate": pa.array(replicate.astype(np.int32)),
                "problem_id": pa.array(np.asarray(problem_ids, dtype=np.int32)[column]),
                "weight": pa.array(counts[replicate, column].astype(np.int32)),
            }
        )
