"""Arrow rows on their way into a table."""

import duckdb
import numpy as np
import pyarrow as pa


def insert(con: duckdb.DuckDBPyConnection, statement: str, rows: pa.Table) -> None:
    """Run `create table … as` or `insert into TABLE` with Arrow rows, or a stream of them."""
    if statement.startswith("insert into "):
        # What is registered as a view stays in memory until the transaction ends.
        con.from_arrow(rows).insert_into(statement.removeprefix("insert into "))
        return
    con.register("arriving_rows", rows)
    try:
        con.execute(f"{statement} select * from arriving_rows")
    finally:
        con.unregister("arriving_rows")


def list_values(lists: pa.ListArray) -> np.ndarray:
    """What all lists of a column hold, one list after the other.

    Arrow's own `flatten` imports `pyarrow.compute`, as `take` and `is_valid` do: that takes longer
    than to compute a table.
    """
    ends = list_ends(lists)
    return lists.values.to_numpy(zero_copy_only=False)[ends[0] : ends[-1]]


def list_ends(lists: pa.ListArray) -> np.ndarray:
    """Where the first list begins, and where every list ends."""
    return lists.offsets.to_numpy()


def known(column: pa.ChunkedArray) -> np.ndarray:
    """Which cells of a column are not null."""
    return column.is_valid().to_numpy() if column.null_count else np.ones(len(column), bool)
