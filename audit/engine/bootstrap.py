"""The bootstrap: every `replicate_x` is a relation of per-problem totals joined with the counts.

`sql/bootstrap/replicates.jinja` says so in SQL. Here the keys are cut into portions, so that memory
is bounded, and where the join would take long NumPy multiplies the same two matrices instead.
Totals are whole numbers: below 2^53 their sums are exact, and so the same in any order.
"""

import threading
from collections.abc import Iterator, Sequence
from itertools import pairwise

import duckdb
import numpy as np
import pyarrow as pa

from audit.ahead import ahead
from audit.database.connection import cursor
from audit.engine.batches import batches
from audit.engine.build import key_totals_sql, replicates_sql
from audit.engine.sql_files import weighings

# Rows of replicates that are made at a time, and totals of the keys that they are made of.
ROWS_AT_A_TIME = 2_000_000
TOTALS_AT_A_TIME = 24_000_000
# Counts that are held at a time, as doubles.
COUNTS_AT_A_TIME = 8_000_000
# Multiplications that a portion leaves to SQL: it takes about a nanosecond for each.
PRODUCTS_IN_SQL = 25_000_000


class Counts:
    """How often each replicate draws each problem; a connection of its own reads them."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = cursor(con)
        ((self.problems, self.replicates),) = self.con.execute(
            "select (select count(*) from problems), max(replicate) + 1 from bootstrap_counts"
        ).fetchall()
        self.lock = threading.Lock()
        self.size = max(1, COUNTS_AT_A_TIME // self.problems)
        # Few counts are read once.
        self.held = self._read(self.con, 0) if self.replicates <= self.size else None

    def blocks(self) -> Iterator[tuple[int, np.ndarray]]:
        """The first replicate of some, and their counts: a row each, as doubles."""
        if self.held is not None:
            yield 0, self.held
            return
        with self.lock:
            con = cursor(self.con)
        with con:
            firsts = range(0, self.replicates, self.size)
            yield from ahead((first, self._read(con, first)) for first in firsts)

    def _read(self, con: duckdb.DuckDBPyConnection, first: int) -> np.ndarray:
        block = con.sql(
            "select counts from bootstrap_counts "
            f"where replicate >= {first} and replicate < {first + self.size} "
            "order by replicate, first_problem"
        ).to_arrow_table()
        counts = block["counts"].combine_chunks().flatten().to_numpy()
        return counts.astype(np.float64).reshape(-1, self.problems)


def key_portions(
    con: duckdb.DuckDBPyConnection, name: str, replicates: int, together: str = ""
) -> Iterator[pa.Table]:
    """The keys of a `replicate_x`, some at a time: a row each, its totals as lists.

    Keys that a select needs at once come together: those of an archive, or all.
    """
    weighing = weighings()[name]
    rows = con.sql(f"from ({key_totals_sql(name)}) order by {', '.join(weighing.keys)}")
    reader = rows.to_arrow_reader(2_048)
    # A relation without a key has the columns of one.
    yield reader.schema.empty_table()
    if together == "all":
        yield pa.Table.from_batches(reader, reader.schema)
        return
    if together == "archive":
        rows_of = lambda keys: (keys.num_rows * replicates,)  # noqa: E731
        for several in batches(_archives(reader), rows_of, (ROWS_AT_A_TIME,)):
            yield pa.concat_tables(several).combine_chunks()
        return
    for batch in reader:
        totals = len(batch["problem_ids"].flatten()) * len(weighing.values)
        size = TOTALS_AT_A_TIME * batch.num_rows // max(1, totals)
        size = max(1, min(ROWS_AT_A_TIME // replicates, size))
        for at in range(0, batch.num_rows, size):
            yield pa.Table.from_batches([batch.slice(at, size)])


def _archives(reader: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """The rows of one archive after those of another; a batch may end within one."""
    held = reader.schema.empty_table()
    for batch in reader:
        table = pa.concat_tables([held, pa.Table.from_batches([batch])]).combine_chunks()
        names = table["archive"].to_numpy()
        starts = np.append(0, np.flatnonzero(names[1:] != names[:-1]) + 1)
        for start, end in pairwise(starts):
            yield table.slice(start, end - start)
        held = table.slice(starts[-1])
    if held.num_rows:
        yield held


def replicate_rows(
    con: duckdb.DuckDBPyConnection, name: str, keys: pa.Table, counts: Counts
) -> str:
    """A select of a `replicate_x` for some of its keys, on this connection."""
    con.register("portion_totals", keys)
    totals = len(keys["problem_ids"].combine_chunks().flatten()) * len(weighings()[name].values)
    if totals * counts.replicates <= PRODUCTS_IN_SQL:
        return replicates_sql(name, "from portion_totals")
    numbered = keys.select(weighings()[name].keys)
    con.register("portion_keys", numbered.append_column("key_id", [np.arange(len(keys))]))
    con.register("portion_sums", multiply(name, keys, counts))
    return "from portion_keys inner join portion_sums using (key_id)"


def multiply(name: str, keys: pa.Table, counts: Counts) -> pa.Table:
    """The sums of a `replicate_x` as the product of two matrices; keys are numbered from 0."""
    values = weighings()[name].values
    problems = keys["problem_ids"].combine_chunks()
    places = problems.flatten().to_numpy() - 1
    ends = np.cumsum(problems.value_lengths().to_numpy())
    alike: dict[bytes, list[int]] = {}
    for row, own in enumerate(np.split(places, ends[:-1])):
        alike.setdefault(own.tobytes(), []).append(row)
    tables = []
    for same, rows in alike.items():
        own = np.frombuffer(same, places.dtype)
        lists = [keys[value].combine_chunks().take(pa.array(rows)) for value in values]
        # A row of totals for each value and key, then a row of ones: how many problems are drawn.
        totals = np.zeros((len(values) * len(rows) + 1, len(own)))
        totals[-1] = 1
        for n, cells in enumerate(lists):
            is_known = cells.is_valid().to_numpy(zero_copy_only=False)
            known = n * len(rows) + np.flatnonzero(is_known)
            totals[known] = cells.flatten().to_numpy().reshape(-1, len(own))
        sums = np.empty((len(totals), counts.replicates))
        for first, block in counts.blocks():
            drawn = block if len(own) == block.shape[1] else block[:, own]
            np.matmul(totals, drawn.T, out=sums[:, first : first + len(block)])
        replays = keys["replays"].to_numpy()[rows]
        tables.append(_rows(values, np.array(rows), replays, sums, [c.is_null() for c in lists]))
    return pa.concat_tables(tables)


def _rows(
    values: Sequence[str],
    key_ids: np.ndarray,
    replays: np.ndarray,
    sums: np.ndarray,
    is_null: list[pa.Array],
) -> pa.Table:
    """One row per key and replicate that draws a problem of the key."""
    draws, replicates = sums[-1], np.arange(sums.shape[1], dtype=np.int32)
    columns = {
        "key_id": np.repeat(key_ids, len(replicates)),
        "replicate": np.tile(replicates, len(key_ids)),
        "draws": np.tile(draws, len(key_ids)),
        "replays": np.outer(replays, draws).ravel(),
    }
    cells = sums[:-1].reshape(len(values), -1)
    for value, own, missing in zip(values, cells, is_null, strict=True):
        mask = missing.to_numpy(zero_copy_only=False).repeat(len(replicates))
        columns[value] = pa.array(own, mask=mask if missing.true_count else None)
    table = pa.table(columns)
    return table if draws.all() else table.filter(pa.array(columns["draws"] > 0))
