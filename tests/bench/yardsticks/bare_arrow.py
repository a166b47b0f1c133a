"""Bare pyarrow: the columns of some Parquet files, row group by row group."""

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow.compute as pc
import pyarrow.parquet as pq

COLUMNS = (
    "archive",
    "competition",
    "question_id",
    "seed",
    "prompt_tokens",
    "completion_tokens",
    "finish_reason",
    "archive_answer",
    "correct",
    "mean_logprob",
    "references",
)


class Seen(NamedTuple):
    """What a reader has seen, so that two readers can be compared."""

    rows: int
    completion_tokens: int
    text_bytes: int


def read(files: Sequence[str]) -> Seen:
    """Read the files with their texts."""
    rows = tokens = size = 0
    for file in files:
        source = pq.ParquetFile(file)
        for group in range(source.num_row_groups):
            batch = source.read_row_group(group, [*COLUMNS, "text"])
            rows += batch.num_rows
            tokens += pc.sum(batch["completion_tokens"]).as_py()
            size += pc.sum(pc.binary_length(batch["text"])).as_py()
    return Seen(rows, tokens, size)
