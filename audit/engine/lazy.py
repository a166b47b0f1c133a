"""Relations that are made on demand: views until a command asks for them, then tables.

A lazy relation is a view whose rows are right for any program. Its file says `-- kept: on demand`.
A command that may write puts a table with the same rows in its place, once per replay; a reader
makes a temporary table for as long as it reads, which every view of its connection sees first.
"""

import contextlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby

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
        _fill(con, {name: f"{name}_made"}, "table")
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
        for is_portioned, group in groupby(waiting, PORTIONED.__contains__):
            together = [*group]
            made += together
            read_later = views_read(con, names, lazy, ends=together) if is_portioned else together
            passing = [name for name in together if name not in read_later]
            _fill(con, {name: f"temp.{name}" for name in together}, "temp table", passing)
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
    con: duckdb.DuckDBPyConnection,
    names: Iterable[str],
    lazy: Collection[str] = LAZY,
    ends: Collection[str] = (),
) -> list[str]:
    """Return the lazy views that relations read, directly or through others, in `lazy`'s order.

    What only `ends` read is left out.
    """
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
            waiting += READ.findall(views[name]) if name not in ends else []
    return [name for name in lazy if name in reached]


def _fill(
    con: duckdb.DuckDBPyConnection,
    tables: Mapping[str, str],
    kind: str,
    passing: Collection[str] = (),
) -> None:
    """Create tables with the rows of views, for some walks at a time where these read walks.

    Of a view that is `passing` there are rows only while the others of the same walks are made.
    """
    catalog = quoted(con.execute("select current_database()").fetchall()[0][0])
    sources = {view: f"from {catalog}.main.{view}" for view in tables}
    portioned = [view for view in tables if view in PORTIONED]
    for view, table in tables.items():
        if view in list_interval_files():
            fill_interval(con, table, view, kind)
        elif view not in portioned:
            con.execute(f"create {kind} {table} as {sources[view]}")
        elif view not in passing:
            create_empty(con, kind, table, sources[view])
    for _ in portions(con) if portioned else ():
        for view in portioned:
            table = tables[view]
            begin = (
                f"create or replace {kind} {table} as"
                if view in passing
                else f"insert into {table}"
            )
            con.execute(f"{begin} {sources[view]}")
    for view in passing:
        con.execute(f"drop table {tables[view]}")
    if passing:
        _release_memory(con)


def _release_memory(con: duckdb.DuckDBPyConnection) -> None:
    """Return what DuckDB has freed to the system; it keeps it for itself otherwise."""
    # A sandbox locks its settings, and where all memory is in use nothing can be returned.
    with contextlib.suppress(duckdb.InvalidInputException, duckdb.OutOfMemoryException):
        # To set the limit to what it is flushes the allocator.
        ((limit,),) = con.execute("select current_setting('memory_limit')").fetchall()
        con.execute(f"set memory_limit = '{limit}'")
