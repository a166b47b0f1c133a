"""Arrow rows on their way into a table."""

import duckdb
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
