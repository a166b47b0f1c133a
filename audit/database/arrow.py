"""Arrow rows on their way into a table."""

import duckdb
import pyarrow as pa

from audit.text import quoted


def insert(con: duckdb.DuckDBPyConnection, statement: str, rows: pa.Table) -> None:
    """Run `create table … as` or `insert into TABLE` with Arrow rows, or a stream of them."""
    if statement.startswith("insert into "):
        # What is registered as a view stays in memory until the transaction ends.
        con.from_arrow(rows).insert_into(statement.removeprefix("insert into "))
        return
    con.register("arriving_rows", rows)
    try:
        if isinstance(rows, pa.Table) and not rows.num_rows:
            *kind, table, _ = statement.removeprefix("create ").split()
            create_empty(con, " ".join(kind), table, "from arriving_rows")
        else:
            con.execute(f"{statement} select * from arriving_rows")
    finally:
        con.unregister("arriving_rows")


def create_empty(con: duckdb.DuckDBPyConnection, kind: str, table: str, rows: str) -> None:
    """Create a table with the columns of a select, without its rows.

    In DuckDB 2.0.0 a table that `create table as` makes empty loses what the same transaction
    inserts, once that is more than a row group; one with declared columns keeps it.
    """
    columns = con.execute(f"describe {rows}").fetchall()
    declared = ", ".join(f"{quoted(name)} {type}" for name, type, *_ in columns)
    con.execute(f"create {kind} {table} ({declared})")
