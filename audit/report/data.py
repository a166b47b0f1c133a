"""What the report reads from the database, in one place."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit import database, engine

# Rows of a long relation that are held at a time.
BATCH_ROWS = 500_000

Row = dict[str, Any]


def relation(con: duckdb.DuckDBPyConnection, name: str, **values: Any) -> pa.Table:
    """Return a relation of sql/report, with values for its parameters."""
    return con.sql(engine.render(name), params=values or None).to_arrow_table()


@contextmanager
def holding(tables: Mapping[str, pa.Table]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Connect to these tables alone, for a relation of sql/report that reads no others."""
    with duckdb.connect() as con:
        for name, table in tables.items():
            con.register(name, table)
        yield con


def batches(con: duckdb.DuckDBPyConnection, name: str, **values: Any) -> Iterator[pa.RecordBatch]:
    """Yield the same of a relation with more rows than are wanted in memory, some at a time."""
    query = con.sql(engine.render(name), params=values or None)
    yield from query.to_arrow_reader(BATCH_ROWS)


def settings(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the settings of the last replay."""
    database.require_replays(con)
    return dict(con.execute("select key, value from settings order by key").fetchall())


def replayed_on(con: duckdb.DuckDBPyConnection) -> str | None:
    """Return the day on which the database was last written; None for one in memory."""
    ((path,),) = con.execute(
        "select path from duckdb_databases() where database_name = current_database()"
    ).fetchall()
    if not path or not Path(path).is_file():
        return None
    written = datetime.fromtimestamp(Path(path).stat().st_mtime, UTC)
    return f"{written.day} {written:%B %Y}"


def archives(con: duckdb.DuckDBPyConnection) -> list[Row]:
    """Return one row per archive: its problems, its attempts and what its banks lack."""
    return relation(con, "archive_counts").to_pylist()


def by_archive(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return rows under their archive, archives in order of first appearance."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["archive"], []).append(row)
    return groups
