"""The commands as functions: a database is a path or a connection, a result an Arrow table."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit import database, engine
from audit.database import connect
from audit.interop import scorio as arrays
from audit.interop.scorio import ScorioArrays
from audit.load.load import load as load_sources
from audit.output import prices as pricing
from audit.query.run import query as run_query

__all__ = ["connect", "load", "query", "replay", "table", "to_scorio"]

Database = str | Path | duckdb.DuckDBPyConnection


@contextmanager
def _opened(db: Database, **options: Any) -> Iterator[duckdb.DuckDBPyConnection]:
    """The connection given, or one to the file for as long as it is needed."""
    if isinstance(db, duckdb.DuckDBPyConnection):
        database.check_schema(db)
        yield db
        return
    with database.opened(db, **options) as con:
        yield con


def load(db: Database, sources: str | Path | Sequence[str | Path], **options: Any) -> pa.Table:
    """Load files, folders or globs, all or nothing, and say what came in: a row per archive."""
    paths = [sources] if isinstance(sources, str | Path) else sources
    with _opened(db, write=True, row_group=database.LOADED_ROW_GROUP) as con:
        summary = load_sources(con, [str(path) for path in paths], **options)
    columns = ("archive", "attempts", "problems")
    return pa.table({name: [getattr(row, name) for row in summary.archives] for name in columns})


def replay(db: Database, **settings: Any) -> pa.Table:
    """Replay every order under every cap, budget and rule, and return the settings used."""
    with _opened(db, write=True, row_group=database.REPLAYED_ROW_GROUP) as con:
        engine.replay(con, **settings)
        return con.sql("from settings order by key").to_arrow_table()


def table(
    db: Database,
    name: str,
    *,
    price_input: float | None = None,
    price_output: float | None = None,
) -> pa.Table:
    """One table of the study; with prices per million tokens, cost tables have money too."""
    with _opened(db) as con:
        return pricing.table(con, name, pricing.prices(price_input, price_output))


def query(db: Database, name_or_sql: str, params: Mapping[str, str] | None = None) -> pa.Table:
    """The rows of a named query, a .sql file or SQL text, read only."""
    with _opened(db) as con:
        return run_query(con, name_or_sql, params)


def to_scorio(db: Database, attempts: int | None = None) -> dict[str, ScorioArrays]:
    """Each archive's (M, N) outcome and answer arrays, as the scorio library takes them."""
    with _opened(db) as con:
        return arrays.to_scorio(con, attempts)
