"""Confidence intervals: quantiles of each value over the bootstrap replicates, one row per key.

A file of `sql/intervals` says in SQL what is computed from replicates. The database has it as a
view; here the same select runs on some keys at a time and several of those side by side.
"""

import queue
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product

import duckdb
import pyarrow as pa
from threadpoolctl import threadpool_limits

from audit.ahead import ahead, in_order
from audit.database.connection import cursor
from audit.engine.bootstrap import Counts, key_portions, replicate_rows
from audit.engine.build import render
from audit.engine.lineage import relations_read
from audit.engine.matching import MATCHED, match
from audit.engine.sql_files import header, interval_names, weighings
from audit.errors import AuditError, first_line


def intervals_read(table: str) -> frozenset[str]:
    """The relations of `sql/intervals` that a table reads."""
    return relations_read(render(table)) & set(interval_names())


@contextmanager
def intervals_of(
    con: duckdb.DuckDBPyConnection,
    tables: Iterable[str],
    lanes: Sequence[duckdb.DuckDBPyConnection] = (),
) -> Iterator[None]:
    """Make the intervals that tables read, in the place of the views; lanes see them too."""
    views = con.execute("select view_name from duckdb_views() where temporary").fetchall()
    read = {name for table in tables for name in intervals_read(table)}
    wanted = sorted(read - {name for (name,) in views})
    try:
        for name in wanted:
            made = interval(con, name)
            for lane in (con, *lanes):
                lane.register(name, made)
        yield
    except duckdb.CatalogException as error:
        raise AuditError(
            f"{first_line(error)} Another version made these replays; run 'budget-audit "
            "replay' again"
        ) from None
    finally:
        for lane, name in product((con, *lanes), wanted):
            lane.unregister(name)


def interval(con: duckdb.DuckDBPyConnection, name: str) -> pa.Table:
    """A relation of `sql/intervals`, computed for some keys at a time."""
    counts = Counts(con)
    (replicate,) = relations_read(render(name)) & {*weighings(), MATCHED}
    ((threads,),) = con.execute("select current_setting('threads')").fetchall()
    lanes: queue.SimpleQueue[duckdb.DuckDBPyConnection] = queue.SimpleQueue()
    for _ in range(threads):
        lanes.put(cursor(con))

    def computed(portion: pa.Table) -> pa.Table:
        lane = lanes.get()
        try:
            if replicate == MATCHED:
                lane.register("portion_replicates", portion)
                rows = "from portion_replicates"
            else:
                rows = replicate_rows(lane, replicate, portion, counts)
            sql = f"with {replicate} as ({rows}\n) from ({render(name)}\n)"
            return lane.sql(sql).to_arrow_table()
        finally:
            lanes.put(lane)

    if replicate == MATCHED:
        portions = match(con, counts)
    else:
        together = header(name).get("together", "")
        portions = key_portions(cursor(con), replicate, counts.replicates, together)
    # A product that waits for threads of its own would keep these from their work.
    with threadpool_limits(1, "blas"):
        return pa.concat_tables(in_order(computed, ahead(portions), threads))
