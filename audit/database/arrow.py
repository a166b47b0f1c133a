"""Arrow rows on their way into a table."""

import duckdb
import pyarrow as pa


def insert(con: duckdb.DuckDBPyConnection, statement: str, rows: pa.Table) -> None:
    """Run `create table … as` or `insert into …` with Arrow rows, or a stream of them."""
    con.register("arriving_rows", rows)
    try:
        con.execute(f"{statement} select * from arriving_rows")
    finally:
        con.unregister("arriving_rows")
