"""The bootstrap: every `replicate_x` is a relation of per-problem totals joined with the counts.

`sql/bootstrap/replicates.jinja` says so in SQL, and the database has it as a view. Tables need all
rows of it: for them NumPy multiplies the same two matrices, some keys at a time. Totals are whole
numbers: below 2^53 their sums are exact, and so the same in any order.
"""

import threading
from collections.abc import Container, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from audit.ahead import prefetch
from audit.database.arrow import list_ends, list_values
from audit.database.connection import cursor
from audit.engine.batches import batches
from audit.engine.build import key_totals_sql
from audit.engine.sql_files import weighings

# How many rows of replicates, sums and totals of problems one batch may have.
ROWS_AT_A_TIME = 2_000_000
SUMS_AT_A_TIME = 6_000_000
TOTALS_AT_A_TIME = 24_000_000
# How many counts are in memory at a time, as doubles.
COUNTS_AT_A_TIME = 8_000_000


class Counts:
    """How often each replicate draws each problem, read over a separate connection."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = cursor(con)
        ((self.problems, self.replicates),) = self.con.execute(
            "select (select count(*) from problems), max(replicate) + 1 from bootstrap_counts"
        ).fetchall()
        self.lock = threading.Lock()
        self.size = max(1, COUNTS_AT_A_TIME // self.problems)
        # Counts that fit in one batch are read once and kept.
        self.only_batch = self._read(self.con, 0) if self.replicates <= self.size else None

    def batches(self) -> Iterator[tuple[int, np.ndarray]]:
        """The first replicate of each batch, and the counts: a row per replicate, as doubles."""
        if self.only_batch is not None:
            yield 0, self.only_batch
            return
        with self.lock:
            con = cursor(self.con)
        with con:
            firsts = range(0, self.replicates, self.size)
            yield from prefetch((first, self._read(con, first)) for first in firsts)

    def _read(self, con: duckdb.DuckDBPyConnection, first: int) -> np.ndarray:
        batch = con.sql(
            "select counts from bootstrap_counts "
            f"where replicate >= {first} and replicate < {first + self.size} "
            "order by replicate, first_problem"
        ).to_arrow_table()
        counts = list_values(batch["counts"].combine_chunks())
        return counts.astype(np.float64).reshape(-1, self.problems)


class SomeCounts(NamedTuple):
    """The counts of a few replicates."""

    counts: np.ndarray

    @property
    def replicates(self) -> int:
        return len(self.counts)

    def batches(self) -> Iterator[tuple[int, np.ndarray]]:
        """All of them."""
        yield 0, self.counts


def all_keys(con: duckdb.DuckDBPyConnection, name: str) -> duckdb.DuckDBPyRelation:
    """The keys of a `replicate_x`: a row each, its totals as lists."""
    weighing = weighings()[name]
    totals_sql = key_totals_sql(name, weighing.changes or weighing.totals)
    return con.sql(f"from ({totals_sql}) order by {', '.join(weighing.keys)}")


def key_batches(
    con: duckdb.DuckDBPyConnection, name: str, replicates: int, together: str = ""
) -> Iterator[pa.Table]:
    """The keys of a `replicate_x` in batches: a row per key, its totals as lists.

    All keys of an archive are in one batch where a select needs them `together`.
    """
    reader = all_keys(con, name).to_arrow_reader(2_048)
    # Without any key, the result still has the columns.
    yield reader.schema.empty_table()
    if together == "archive":
        rows_of = lambda keys: (keys.num_rows * replicates,)  # noqa: E731
        for several in batches(_archives(reader), rows_of, (ROWS_AT_A_TIME,)):
            yield pa.concat_tables(several).combine_chunks()
        return
    for batch in reader:
        totals = total_count(name, batch)
        size = TOTALS_AT_A_TIME * batch.num_rows // max(1, totals)
        size = max(1, min(ROWS_AT_A_TIME // replicates, size))
        for at in range(0, batch.num_rows, size):
            yield pa.Table.from_batches([batch.slice(at, size)])


def _archives(reader: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """The rows of each archive as a table; a batch may end inside an archive."""
    rest = reader.schema.empty_table()
    for batch in reader:
        table = pa.concat_tables([rest, pa.Table.from_batches([batch])]).combine_chunks()
        firsts = starts(table["archive"])
        for start, end in pairwise(firsts):
            yield table.slice(start, end - start)
        rest = table.slice(firsts[-1])
    if rest.num_rows:
        yield rest


def starts(archives: pa.ChunkedArray) -> list[int]:
    """The first row of every archive."""
    names = archives.to_numpy()
    return [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1).tolist()][: len(names)]


class Replicates(NamedTuple):
    """The sums of a batch of keys of a `replicate_x`, in every replicate."""

    name: str
    keys: pa.Table
    # A row per key, a column per replicate.
    draws: np.ndarray
    # By value, the same; null where the key's total is null at every problem.
    sums: np.ndarray
    is_null: np.ndarray

    def rows(self, columns: Container[str] | None = None) -> pa.Table:
        """The rows by key and replicate, null where no problem is drawn; all or these columns."""
        keys, replicates = self.draws.shape
        weighing = weighings()[self.name]
        is_wanted = lambda name: columns is None or name in columns  # noqa: E731
        arrays = {}
        if names := [key for key in (*weighing.keys, "key_id") if is_wanted(key)]:
            each = pa.array(np.repeat(np.arange(keys, dtype=np.int32), replicates))
            # A dictionary repeats keys without copying them.
            repeated = lambda key: pa.DictionaryArray.from_arrays(  # noqa: E731
                each, self.keys[key].combine_chunks()
            )
            arrays = {key: each if key == "key_id" else repeated(key) for key in names}
        if is_wanted("replicate"):
            arrays["replicate"] = pa.array(np.tile(np.arange(replicates, dtype=np.int32), keys))
        if is_wanted("draws"):
            arrays["draws"] = pa.array(self.draws.ravel())
        undrawn = None if self.draws.all() else (self.draws == 0).ravel()
        replays = self.keys["replays"].to_numpy().astype(np.float64)
        arrays["replays"] = pa.array((replays[:, None] * self.draws).ravel(), mask=undrawn)
        for value, sums, is_null in zip(weighing.values, self.sums, self.is_null, strict=True):
            if is_wanted(value):
                mask = np.repeat(is_null, replicates) if is_null.any() else None
                if undrawn is not None:
                    mask = undrawn if mask is None else mask | undrawn
                arrays[value] = pa.array(sums.ravel(), mask=mask)
        return pa.table(arrays)

    def drawn(self) -> pa.Table:
        """The rows of the `replicate_x`: there is none where a replicate draws no problem."""
        rows = self.rows()
        return rows if self.draws.all() else rows.filter(pa.array((self.draws > 0).ravel()))

    def points(self) -> pa.Table:
        """The rows of replicate 0, which draws every problem once."""
        return self._replace(draws=self.draws[:, :1], sums=self.sums[:, :, :1]).rows()


def weigh(
    con: duckdb.DuckDBPyConnection, relations: dict[str, str], counts: Counts
) -> Iterator[Replicates]:
    """The replicates of relations (name: what its batches keep together), a batch at a time.

    Keys of several relations are multiplied together, so that the counts are read seldom.
    """
    tables = (
        (name, keys)
        for name, together in relations.items()
        for keys in key_batches(con, name, counts.replicates, together)
    )

    def sizes(table: tuple[str, pa.Table]) -> tuple[int, int]:
        name, keys = table
        totals, sums = total_count(name, keys), keys.num_rows * len(weighings()[name].values)
        return totals, sums * counts.replicates

    for several in batches(tables, sizes, (TOTALS_AT_A_TIME, SUMS_AT_A_TIME)):
        yield from multiply(several, counts)


def total_count(name: str, keys: pa.Table | pa.RecordBatch) -> int:
    """How many totals keys have."""
    ids = keys["problem_ids"]
    chunks = ids.chunks if isinstance(ids, pa.ChunkedArray) else [ids]
    return sum(len(list_values(chunk)) for chunk in chunks) * len(weighings()[name].values)


def by_replicates(
    con: duckdb.DuckDBPyConnection, name: str, counts: Counts
) -> Iterator[Replicates]:
    """All keys of a `replicate_x`, a batch of replicates at a time; replicate 0 is the first."""
    keys = all_keys(con, name).to_arrow_table().combine_chunks()
    size = max(2, ROWS_AT_A_TIME // max(1, keys.num_rows))
    for _, batch in counts.batches():
        for at in range(0, len(batch), size):
            yield from multiply([(name, keys)], SomeCounts(batch[at : at + size]))


def multiply(
    tables: Sequence[tuple[str, pa.Table]], counts: Counts | SomeCounts
) -> Iterator[Replicates]:
    """Multiply totals by counts; one product for all keys with the same problems is faster."""
    results = []
    # By problems: tables, and the rows of their keys.
    alike: dict[bytes, list[tuple[int, np.ndarray]]] = {}
    for n, (name, keys) in enumerate(tables):
        values = weighings()[name].values
        # A list that is there has a total for each of the key's problems.
        is_null = [np.diff(list_ends(keys[value].combine_chunks())) == 0 for value in values]
        draws = np.empty((keys.num_rows, counts.replicates))
        sums = np.empty((len(is_null), *draws.shape))
        results.append(Replicates(name, keys, draws, sums, np.array(is_null)))
        for own, rows in _by_problems(keys["problem_ids"].combine_chunks()).items():
            alike.setdefault(own, []).append((n, rows))
    products = [
        (
            np.frombuffer(own, np.int32) - 1,
            np.concatenate([_totals(*tables[n], rows) for n, rows in members]),
            members,
        )
        for own, members in alike.items()
    ]
    for first, batch in counts.batches() if products else ():
        span = slice(first, first + len(batch))
        for places, totals, members in products:
            drawn = batch if len(places) == batch.shape[1] else batch[:, places]
            # BLAS is slow with few rows before many.
            made = totals @ drawn.T if len(totals) >= 64 else (drawn @ totals.T).T
            draws, at = drawn.sum(axis=1), 0
            for n, rows in members:
                size = len(results[n].sums) * len(rows)
                # Neighbours are written faster as a slice.
                is_run = rows[-1] - rows[0] == len(rows) - 1
                to = slice(rows[0], rows[-1] + 1) if is_run else rows
                results[n].draws[to, span] = draws
                cells = made[at : at + size].reshape(-1, len(rows), len(batch))
                results[n].sums[:, to, span] = cells
                at += size
    for result in results:
        yield _added_up(result) if weighings()[result.name].changes else result


def _added_up(changes: Replicates) -> Replicates:
    """The replicates of totals, from those of their changes."""
    firsts = starts(changes.keys["archive"])
    for start, end in pairwise([*firsts, changes.keys.num_rows]):
        np.cumsum(changes.sums[:, start:end], axis=1, out=changes.sums[:, start:end])
        changes.draws[start:end] = changes.draws[start]
    return changes


def _by_problems(problem_ids: pa.ListArray) -> dict[bytes, np.ndarray]:
    """The rows of the keys that have the same problems, by those problems."""
    ids, ends = list_values(problem_ids), list_ends(problem_ids)
    rows_by_problems: dict[bytes, list[int]] = {}
    for row, own in enumerate(np.split(ids.astype(np.int32), ends[1:] - ends[0])[:-1]):
        rows_by_problems.setdefault(own.tobytes(), []).append(row)
    return {own: np.array(rows) for own, rows in rows_by_problems.items()}


def _totals(name: str, keys: pa.Table, rows: np.ndarray) -> np.ndarray:
    """A row of totals per value and key, zeros where they are null."""
    values, problems = weighings()[name].values, len(keys["problem_ids"][int(rows[0])].values)
    matrix = np.zeros((len(values), len(rows), problems))
    for totals, value in zip(matrix, values, strict=True):
        lists = keys[value].combine_chunks()
        first, end = list_ends(lists)[:-1][rows], list_ends(lists)[1:][rows]
        cells = first[first < end, None] + np.arange(problems)
        totals[first < end] = lists.values.to_numpy(zero_copy_only=False)[cells]
    return matrix.reshape(-1, matrix.shape[2])
