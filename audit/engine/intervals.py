"""Confidence intervals: quantiles of each value over the bootstrap replicates, one row per key.

A file of `sql/intervals` says in SQL what is computed from replicates. The database has it as a
view; here the same is computed for some keys at a time and several of those side by side. NumPy
finds the ends where the file computes each replicate from its own row; other files run as they are.
"""

import queue
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, pairwise, product

import duckdb
import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from audit.ahead import in_order, prefetch
from audit.database.arrow import known
from audit.database.connection import cursor
from audit.engine.bootstrap import Counts, Replicates, by_replicates, starts, weigh
from audit.engine.build import QUANTILES, render
from audit.engine.lineage import relations_named
from audit.engine.matching import MATCHED, match
from audit.engine.sql_files import header, interval_names, interval_statistics, text, weighings
from audit.errors import AuditError, first_line


def intervals_read(table: str) -> frozenset[str]:
    """The relations of `sql/intervals` that a table reads."""
    return relations_named(render(table)) & set(interval_names())


@contextmanager
def intervals_of(
    con: duckdb.DuckDBPyConnection,
    tables: Iterable[str],
    lanes: Sequence[duckdb.DuckDBPyConnection] = (),
) -> Iterator[None]:
    """Make the intervals that tables read, in the place of the views; lanes see them too."""
    views = con.execute("select view_name from duckdb_views() where temporary").fetchall()
    read = {name for table in tables for name in intervals_read(table)}
    names = sorted(read - {name for (name,) in views})
    try:
        made = intervals(con, names) if names else {}
        for lane, name in product((con, *lanes), names):
            lane.register(name, made[name])
        yield
    except duckdb.CatalogException as error:
        raise AuditError(
            f"{first_line(error)} Another version made these replays; run 'budget-audit "
            "replay' again"
        ) from None
    finally:
        for lane, name in product((con, *lanes), names):
            # After a failure another thread may still use the connection, which is closed then.
            with suppress(duckdb.Error):
                lane.unregister(name)


def intervals(con: duckdb.DuckDBPyConnection, names: Sequence[str]) -> dict[str, pa.Table]:
    """Relations of `sql/intervals`, computed for some keys at a time."""
    counts = Counts(con)
    # What is computed from the same replicates shares them.
    users: dict[str, list[str]] = {}
    by_replicate = [name for name in names if header(name).get("together") == "replicate"]
    for name in names:
        if name not in by_replicate:
            users.setdefault(_replicate_of(name), []).append(name)
    relations = {
        replicate: max(header(name).get("together", "") for name in own)
        for replicate, own in users.items()
        if replicate != MATCHED
    }
    ((threads,),) = con.execute("select current_setting('threads')").fetchall()
    lanes: queue.SimpleQueue[duckdb.DuckDBPyConnection] = queue.SimpleQueue()
    for _ in range(threads):
        lanes.put(cursor(con))

    def computed(batch: Replicates | pa.Table) -> list[tuple[str, pa.Table]]:
        lane = lanes.get()
        replicate = batch.name if isinstance(batch, Replicates) else MATCHED
        try:
            return [(name, _interval(lane, name, replicate, batch)) for name in users[replicate]]
        finally:
            lanes.put(lane)

    batches = chain(
        weigh(cursor(con), relations, counts), match(con, counts) if MATCHED in users else ()
    )
    tables_by_name: dict[str, list[pa.Table]] = {name: [] for name in names}
    # A product that waits for threads of its own would keep these from their work.
    with threadpool_limits(1, "blas"):
        for several in in_order(computed, prefetch(batches), threads):
            for name, table in several:
                tables_by_name[name].append(table)
        for name in by_replicate:
            tables_by_name[name].append(_with_shares(cursor(con), name, counts))
    return {name: pa.concat_tables(tables) for name, tables in tables_by_name.items()}


def _replicate_of(name: str) -> str:
    """What an `interval_x` is computed from."""
    (replicate,) = relations_named(text(name)) & {*weighings(), MATCHED}
    return replicate


def _with_shares(con: duckdb.DuckDBPyConnection, name: str, counts: Counts) -> pa.Table:
    """The points of keys that are compared within a replicate, and in what percent they hold."""
    replicate, (column,) = _replicate_of(name), interval_statistics(name)
    rows_sql = f"with {replicate} as (from batch) select {{}} from ({text(name)}\n) order by {{}}"
    batches = by_replicates(con, replicate, counts)
    head = next(batches)
    con.register("batch", head.points())
    table = con.sql(rows_sql.format("* exclude (key_id, replicate)", "key_id")).to_arrow_table()
    holds, counted = np.zeros((2, len(table)))
    for batch in chain([head], batches):
        con.register("batch", batch.rows())
        sql = rows_sql.format(f"{column}::double as {column}", "key_id, replicate")
        values = con.sql(sql).to_arrow_table()[column].to_numpy().reshape(batch.draws.shape)
        # Replicate 0 is the point.
        others = values[:, 1:] if batch is head else values
        holds += np.nansum(others, axis=1)
        counted += np.isfinite(others).sum(axis=1)
    shares = 100 * np.divide(holds, counted, out=np.full(len(table), np.nan), where=counted > 0)
    return table.append_column(f"{column}_share", pa.array(shares, from_pandas=True))


def _interval(
    con: duckdb.DuckDBPyConnection, name: str, replicate: str, batch: Replicates | pa.Table
) -> pa.Table:
    """The rows of an `interval_x` for some of its keys."""
    is_row_wise = "together" not in header(name) or "band" in header(name)
    if isinstance(batch, Replicates) and is_row_wise:
        return _with_ends(con, name, batch)
    rows = batch.drawn() if isinstance(batch, Replicates) else batch
    con.register("batch", rows)
    return con.sql(f"with {replicate} as (from batch) from ({render(name)}\n)").to_arrow_table()


def _with_ends(con: duckdb.DuckDBPyConnection, name: str, batch: Replicates) -> pa.Table:
    """The points of keys, and statistics of their other replicates."""
    asked = interval_statistics(name)
    sql = text(name)
    rows_sql = f"with {batch.name} as (from batch) select {{}} from ({sql}\n)"
    con.register("batch", batch.points())
    table = con.sql(rows_sql.format("* exclude (key_id, replicate)")).to_arrow_table()
    # A projection keeps the order of rows, so keys and replicates need not come along.
    read = set(re.findall(r"\w+", re.sub(r"--.*", "", sql)))
    con.register("batch", batch.rows(read))
    computed = con.sql(rows_sql.format(", ".join(asked))).to_arrow_table()
    for column, asked_of in asked.items():
        values = computed[column].to_numpy().reshape(batch.draws.shape)
        is_known = known(computed[column]).reshape(batch.draws.shape)[:, 1:]
        # The view has what is no quantile first.
        words = sorted(asked_of, key=QUANTILES.__contains__)
        numbers_by_word = dict(zip(words, statistics(values[:, 1:], is_known, words), strict=True))
        for word, numbers in numbers_by_word.items():
            table = table.append_column(f"{column}_{word}", pa.array(numbers, from_pandas=True))
        if header(name).get("band") == column:
            bands = _bands(starts(table["archive"]), values, is_known, numbers_by_word["error"])
            table = table.append_column("band", pa.array(bands, from_pandas=True))
    return table


def _bands(
    firsts: Sequence[int], values: np.ndarray, is_known: np.ndarray, errors: np.ndarray
) -> np.ndarray:
    """How many standard errors 95 % of an archive's replicates stay within, at all of its keys."""
    bands = np.empty(len(values))
    for first, end in pairwise([*firsts, len(values)]):
        keys = slice(first, end)
        away = np.abs(values[keys, 1:] - values[keys, :1])
        has_error = (errors[keys] > 0)[:, None]
        np.divide(away, errors[keys, None], out=away, where=has_error)
        away[~np.broadcast_to(has_error, away.shape)] = 0
        most = np.where(is_known[keys], away, -1).max(axis=0)
        bands[keys] = _row_statistics(most[None, most >= 0], ["band"])
    return bands


def statistics(values: np.ndarray, is_known: np.ndarray, words: Sequence[str]) -> np.ndarray:
    """The statistics named in `words`, a row each, of every row of values; NaN means null."""
    is_whole = is_known.all(axis=1)
    if is_whole.all():
        return _row_statistics(values, words)
    numbers = np.empty((len(words), len(values)))
    numbers[:, is_whole] = _row_statistics(values[is_whole], words)
    for n in np.flatnonzero(~is_whole):
        numbers[:, [n]] = _row_statistics(values[n, is_known[n]][None], words)
    return numbers


def _row_statistics(values: np.ndarray, words: Sequence[str]) -> np.ndarray:
    """The standard deviation or quantiles of each row, by straight lines between neighbours."""
    size = values.shape[1]
    numbers = np.full((len(words), len(values)), np.nan)
    ranks = {word: (size - 1) * QUANTILES[word] for word in words if word in QUANTILES}
    near = {at for rank in ranks.values() for at in (int(rank), min(int(rank) + 1, size - 1))}
    parted = np.partition(values, sorted(near), axis=1) if size else values
    for row, word in zip(numbers, words, strict=True):
        if word == "error" and size > 1:
            # Equal values have none, which rounding would give them.
            away = values - values.mean(axis=1, keepdims=True)
            errors = np.sqrt(np.einsum("ij,ij->i", away, away) / (size - 1))
            row[:] = np.where(values.min(axis=1) < values.max(axis=1), errors, 0)
        elif word in ranks and size:
            at = int(ranks[word])
            low, high = parted[:, at], parted[:, min(at + 1, size - 1)]
            with np.errstate(invalid="ignore"):
                row[:] = np.where(low == high, low, low + (high - low) * (ranks[word] - at))
    return numbers
