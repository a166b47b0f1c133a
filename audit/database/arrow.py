"""Insert Arrow tables into DuckDB tables."""

import duckdb
import pyarrow as pa

from audit.text import quoted


def insert(con: duckdb.DuckDBPyConnection, statement: str, rows: pa.Table) -> None:
    """Run `create table TABLE as` or `insert into TABLE` with an Arrow table or reader."""
    if statement.startswith("insert into "):
        # A registered view would stay in memory until the transaction ends.
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
    """Create an empty table with the columns of a select.

    In DuckDB 2.0.0 an empty table made by `create table as` loses rows that the same transaction
    inserts, if they fill more than a row group; a table with declared columns keeps them.
    """
    columns = con.execute(f"describe {rows}").fetchall()
    declared = ", ".join(f"{quoted(name)} {type}" for name, type, *_ in columns)
    con.execute(f"create {kind} {table} ({declared})")
