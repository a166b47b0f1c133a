"""Relations that are made on demand: views until a command asks for them, then tables.

A lazy relation is a view whose rows are right for any program. Its file says `-- kept: on demand`.
A command that may write puts a table with the same rows in its place, once per replay; a reader
makes a temporary table for as long as it reads, which every view of its connection sees first.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

import duckdb

from audit.database.arrow import create_empty
from audit.database.schema import relations
from audit.engine.intervals import fill_interval
from audit.engine.portions import portions
from audit.engine.sql_files import list_interval_files
from audit.engine.stages import LAZY, PORTIONED
from audit.text import quoted

# What a view reads, in the words in which DuckDB keeps it.
READ = re.compile(r"(?:\bFROM|\bJOIN| ,) \(*(\w+)")


def materialize(
    con: duckdb.DuckDBPyConnection, names: Iterable[str], lazy: Collection[str] = LAZY
) -> list[str]:
    """Put tables in the place of the lazy views that relations read, and return their names."""
    waiting = views_read(con, names, lazy)
    for name in waiting:
        _fill(con, f"{name}_made", name, "table")
        con.execute(f"drop view {name}")
        con.execute(f"alter table {name}_made rename to {name}")
        if "replay_relations" in relations(con):
            con.execute("update replay_relations set kind = 'table' where name = ?", [name])
    return waiting


@contextmanager
def materialized(
    con: duckdb.DuckDBPyConnection, names: Iterable[str], lazy: Collection[str] = LAZY
) -> Iterator[list[str]]:
    """Make temporary tables of the lazy views that these relations read, for as long as needed."""
    waiting = views_read(con, names, lazy)
    made: list[str] = []
    try:
        for name in waiting:
            made.append(name)
            _fill(con, f"temp.{name}", name, "temp table")
        yield waiting
    finally:
        for name in made:
            con.execute(f"drop table if exists temp.{name}")


@contextmanager
def prepared(con: duckdb.DuckDBPyConnection, names: Iterable[str]) -> Iterator[None]:
    """Make tables of the lazy views that relations read: for good, or while a reader needs them."""
    query = "select readonly from duckdb_databases() where database_name = current_database()"
    if con.execute(query).fetchall() == [(True,)]:
        with materialized(con, names):
            yield
    else:
        materialize(con, names)
        yield


def views_read(
    con: duckdb.DuckDBPyConnection, names: Iterable[str], lazy: Collection[str] = LAZY
) -> list[str]:
    """Return the lazy views that relations read, directly or through others, in `lazy`'s order."""
    views = dict(
        con.execute(
            "select view_name, sql from duckdb_views() where not internal "
            "and database_name = current_database() and schema_name = 'main'"
        ).fetchall()
    )
    tables = con.execute("select table_name from duckdb_tables() where temporary").fetchall()
    reached: set[str] = set()
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name in views and name not in reached and (name,) not in tables:
            reached.add(name)
            waiting += READ.findall(views[name])
    return [name for name in lazy if name in reached]


def _fill(con: duckdb.DuckDBPyConnection, table: str, view: str, kind: str) -> None:
    """Create a table with the rows of a view, for some walks at a time where it reads walks."""
    if view in list_interval_files():
        fill_interval(con, table, view, kind)
        return
    catalog = quoted(con.execute("select current_database()").fetchall()[0][0])
    source = f"from {catalog}.main.{view}"
    if view not in PORTIONED:
        con.execute(f"create {kind} {table} as {source}")
        return
    create_empty(con, kind, table, source)
    for _ in portions(con):
        con.execute(f"insert into {table} {source}")
