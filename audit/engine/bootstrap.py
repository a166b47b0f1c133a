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
import pyarrow.compute as pc

from audit.ahead import prefetch
from audit.database.connection import cursor
from audit.engine.batches import batches
from audit.engine.build import key_totals_sql
from audit.engine.sql_files import weighings

# Rows of replicates that are made at a time, sums in them, and totals that they are made of.
ROWS_AT_A_TIME = 2_000_000
SUMS_AT_A_TIME = 6_000_000
TOTALS_AT_A_TIME = 24_000_000
# Counts that are held at a time, as doubles.
COUNTS_AT_A_TIME = 8_000_000


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
        self.only_block = self._read(self.con, 0) if self.replicates <= self.size else None

    def blocks(self) -> Iterator[tuple[int, np.ndarray]]:
        """The first replicate of some, and their counts: a row each, as doubles."""
        if self.only_block is not None:
            yield 0, self.only_block
            return
        with self.lock:
            con = cursor(self.con)
        with con:
            firsts = range(0, self.replicates, self.size)
            yield from prefetch((first, self._read(con, first)) for first in firsts)

    def _read(self, con: duckdb.DuckDBPyConnection, first: int) -> np.ndarray:
        block = con.sql(
            "select counts from bootstrap_counts "
            f"where replicate >= {first} and replicate < {first + self.size} "
            "order by replicate, first_problem"
        ).to_arrow_table()
        counts = block["counts"].combine_chunks().flatten().to_numpy()
        return counts.astype(np.float64).reshape(-1, self.problems)


class SomeCounts(NamedTuple):
    """The counts of a few replicates."""

    counts: np.ndarray

    @property
    def replicates(self) -> int:
        return len(self.counts)

    def blocks(self) -> Iterator[tuple[int, np.ndarray]]:
        """All of them."""
        yield 0, self.counts


def all_keys(con: duckdb.DuckDBPyConnection, name: str) -> duckdb.DuckDBPyRelation:
    """The keys of a `replicate_x`: a row each, its totals as lists."""
    weighing = weighings()[name]
    totals_sql = key_totals_sql(name, weighing.changes or weighing.totals)
    return con.sql(f"from ({totals_sql}) order by {', '.join(weighing.keys)}")


def key_portions(
    con: duckdb.DuckDBPyConnection, name: str, replicates: int, together: str = ""
) -> Iterator[pa.Table]:
    """The keys of a `replicate_x`, some at a time: a row each, its totals as lists.

    Keys of an archive come together where a select needs them at once.
    """
    weighing = weighings()[name]
    reader = all_keys(con, name).to_arrow_reader(2_048)
    # A relation without a key has the columns of one.
    yield reader.schema.empty_table()
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
    """What every replicate says of some keys of a `replicate_x`."""

    name: str
    keys: pa.Table
    # A row per key, a column per replicate.
    draws: np.ndarray
    # By value, the same; null where the key's total is null at every problem.
    sums: np.ndarray
    is_null: np.ndarray

    def rows(self, columns: Container[str] | None = None) -> pa.Table:
        """The rows, one key after the other, null where none is drawn; all columns or some."""
        keys, replicates = self.draws.shape
        weighing = weighings()[self.name]
        is_wanted = lambda name: columns is None or name in columns  # noqa: E731
        arrays = {}
        if names := [key for key in (*weighing.keys, "key_id") if is_wanted(key)]:
            each = pa.array(np.repeat(np.arange(keys, dtype=np.int32), replicates))
            arrays = {key: each if key == "key_id" else self.keys[key].take(each) for key in names}
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
    """Relations, each with what comes together, some keys at a time; counts are read seldom."""
    portions = (
        (name, keys)
        for name, together in relations.items()
        for keys in key_portions(con, name, counts.replicates, together)
    )

    def sizes(portion: tuple[str, pa.Table]) -> tuple[int, int]:
        name, keys = portion
        totals, sums = total_count(name, keys), keys.num_rows * len(weighings()[name].values)
        return totals, sums * counts.replicates

    for several in batches(portions, sizes, (TOTALS_AT_A_TIME, SUMS_AT_A_TIME)):
        yield from multiply(several, counts)


def total_count(name: str, keys: pa.Table | pa.RecordBatch) -> int:
    """How many totals keys have."""
    return int(pc.sum(pc.list_value_length(keys["problem_ids"])).as_py() or 0) * len(
        weighings()[name].values
    )


def by_replicates(
    con: duckdb.DuckDBPyConnection, name: str, counts: Counts
) -> Iterator[Replicates]:
    """All keys of a `replicate_x`, some replicates at a time; replicate 0 is the first."""
    keys = all_keys(con, name).to_arrow_table().combine_chunks()
    size = max(2, ROWS_AT_A_TIME // max(1, keys.num_rows))
    for _, block in counts.blocks():
        for at in range(0, len(block), size):
            yield from multiply([(name, keys)], SomeCounts(block[at : at + size]))


def multiply(
    portions: Sequence[tuple[str, pa.Table]], counts: Counts | SomeCounts
) -> Iterator[Replicates]:
    """Totals times counts; keys with the same problems make one product, which is the faster."""
    results = []
    # By problems: portions, and their keys.
    alike: dict[bytes, list[tuple[int, np.ndarray]]] = {}
    for n, (name, keys) in enumerate(portions):
        is_null = [keys[value].is_null().to_numpy() for value in weighings()[name].values]
        draws = np.empty((keys.num_rows, counts.replicates))
        sums = np.empty((len(is_null), *draws.shape))
        results.append(Replicates(name, keys, draws, sums, np.array(is_null)))
        for own, rows in _by_problems(keys["problem_ids"].combine_chunks()).items():
            alike.setdefault(own, []).append((n, rows))
    products = [
        (
            np.frombuffer(own, np.int32) - 1,
            np.concatenate([_totals(*portions[n], rows) for n, rows in parts]),
            parts,
        )
        for own, parts in alike.items()
    ]
    for first, block in counts.blocks() if products else ():
        span = slice(first, first + len(block))
        for places, totals, parts in products:
            drawn = block if len(places) == block.shape[1] else block[:, places]
            # BLAS is slow with few rows before many.
            made = totals @ drawn.T if len(totals) >= 64 else (drawn @ totals.T).T
            draws, at = drawn.sum(axis=1), 0
            for n, rows in parts:
                size = len(results[n].sums) * len(rows)
                # Neighbours are written faster as a slice.
                is_run = rows[-1] - rows[0] == len(rows) - 1
                to = slice(rows[0], rows[-1] + 1) if is_run else rows
                results[n].draws[to, span] = draws
                cells = made[at : at + size].reshape(-1, len(rows), len(block))
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
    """The keys that have the same problems, by these."""
    ids, ends = problem_ids.flatten().to_numpy(), np.cumsum(problem_ids.value_lengths().to_numpy())
    rows_by_problems: dict[bytes, list[int]] = {}
    for row, own in enumerate(np.split(ids.astype(np.int32), ends)[:-1]):
        rows_by_problems.setdefault(own.tobytes(), []).append(row)
    return {own: np.array(rows) for own, rows in rows_by_problems.items()}


def _totals(name: str, keys: pa.Table, rows: np.ndarray) -> np.ndarray:
    """A row of totals per value and key, zeros where they are null."""
    lists = [keys[value].combine_chunks().take(rows) for value in weighings()[name].values]
    matrix = np.zeros((len(lists), len(rows), len(keys["problem_ids"][int(rows[0])])))
    for totals, cells in zip(matrix, lists, strict=True):
        is_valid = cells.is_valid().to_numpy(zero_copy_only=False)
        totals[is_valid] = cells.flatten().to_numpy().reshape(-1, totals.shape[1])
    return matrix.reshape(-1, matrix.shape[2])
