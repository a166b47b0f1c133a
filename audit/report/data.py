"""Everything that the report reads from the database."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit import database, engine

# Rows per batch of a long relation.
BATCH_ROWS = 500_000

Row = dict[str, Any]


def read(con: duckdb.DuckDBPyConnection, name: str, **values: Any) -> pa.Table:
    """Run a select of sql/report with these parameters, and return its rows."""
    return con.sql(engine.render(name), params=values or None).to_arrow_table()


@contextmanager
def connect_tables(tables: Mapping[str, pa.Table]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Connect to an empty database that holds only these tables, for selects of sql/report."""
    with duckdb.connect() as con:
        for name, table in tables.items():
            con.register(name, table)
        yield con


def stream(con: duckdb.DuckDBPyConnection, name: str, **values: Any) -> Iterator[pa.RecordBatch]:
    """Run a select of sql/report, and yield its rows in batches, as they may not fit in memory."""
    query = con.sql(engine.render(name), params=values or None)
    yield from query.to_arrow_reader(BATCH_ROWS)


def read_settings(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Read the settings of the last replay."""
    database.require_replays(con)
    return dict(con.execute("select key, value from settings order by key").fetchall())


def read_replay_date(con: duckdb.DuckDBPyConnection) -> str | None:
    """Return the date on which the database file was last written; None for one in memory."""
    ((path,),) = con.execute(
        "select path from duckdb_databases() where database_name = current_database()"
    ).fetchall()
    if not path or not Path(path).is_file():
        return None
    written = datetime.fromtimestamp(Path(path).stat().st_mtime, UTC)
    return f"{written.day} {written:%B %Y}"


def read_archives(con: duckdb.DuckDBPyConnection) -> list[Row]:
    """Read one row per archive: how many problems and attempts it has, and what is missing."""
    return read(con, "archive_counts").to_pylist()


def group_by_archive(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Group rows by their archive, archives in order of first appearance."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["archive"], []).append(row)
    return groups
