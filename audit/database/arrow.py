"""Arrow rows on their way into a table."""

import duckdb
import pyarrow as pa


def insert(con: duckdb.DuckDBPyConnection, statement: str, rows: pa.Table) -> None:
    """Do `insert into TABLE` or `create table NAME as` with Arrow rows, or a stream of them."""
    verb, name = statement.removesuffix(" as").rsplit(" ", 1)
    # Rows that are registered as a view stay in memory until the transaction ends.
    relation = con.from_arrow(rows)
    if verb == "insert into":
        relation.insert_into(name)
    else:
        relation.create(name)
