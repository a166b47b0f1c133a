"""Cache the views of a replay: create them once per version and choice of plug-ins, then copy.

Views do not depend on records, and creating them takes longer than a small replay. So they are
created over empty tables, and cached beside the package as Python caches compiled code.
"""

import contextlib
import hashlib
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from audit.database.connection import COMPILED
from audit.database.schema import LOADED, VIEWS, relations
from audit.engine.build import bind_views, build, render
from audit.engine.comments import comment_relations
from audit.engine.draws import DRAWN_COLUMNS
from audit.engine.lineage import scan_relations
from audit.engine.plugins import KINDS, Plugins
from audit.engine.settings import Settings, store_settings
from audit.engine.sql_files import digest_sql, list_tables
from audit.engine.stages import DRAWN, STAGE_NAMES, TOKEN_RELATIONS
from audit.text import literal, quoted

# The name of the attached database of views, the most cached files, and options for small files.
MADE = "audit_views"
MOST_KEPT = 16
SMALL = "block_size 16384, storage_version 'v1.4.0'"
# Selects the statements that create empty copies of the loaded tables.
EMPTY = """
    select
        'create table ' || table_name || ' ('
        || string_agg('"' || column_name || '" ' || data_type, ', ' order by column_index) || ')'
    from duckdb_columns()
    where
        database_name = current_database()
        and schema_name = 'main'
        and list_contains($loaded, table_name)
    group by table_name
    order by table_name
"""


@contextmanager
def attach_views(
    con: duckdb.DuckDBPyConnection, settings: Settings, plugins: Plugins
) -> Iterator[None]:
    """Attach the views of a replay with these plug-ins, from the cache or created now."""
    loaded = [row[0] for row in con.execute(EMPTY, {"loaded": [*LOADED]}).fetchall()]
    known = (digest_sql(), _stat_code(), duckdb.__version__, plugins, loaded)
    file = COMPILED / f"{hashlib.sha256(repr(known).encode()).hexdigest()[:16]}.duckdb"
    try:
        if not _attach_file(con, file):
            con.execute(f"attach ':memory:' as {MADE}")
            with _use_database(con, MADE):
                _make_views(con, settings, plugins, loaded)
            # The cache is shared: plug-ins of the user stay out of it.
            if not any(plugins.own(kind) for kind in KINDS):
                _cache_views(con, file)
        yield
    finally:
        with contextlib.suppress(duckdb.Error):
            con.execute(f"detach {MADE}")


def copy_views(con: duckdb.DuckDBPyConnection) -> Collection[str]:
    """Copy the attached views and their comments into the database; return their names."""
    ((database,),) = con.execute("select current_database()").fetchall()
    con.execute(f"copy from database {MADE} to {quoted(database)} (schema)")
    made = f"select view_name from duckdb_views() where database_name = '{MADE}' and not internal"
    return [name for (name,) in con.execute(made).fetchall()]


def publish(con: duckdb.DuckDBPyConnection, plugins: Plugins) -> None:
    """Create a view of every table, so that any program can select from it.

    Comments on relations and columns are written into the catalogue.
    """
    for name in list_tables():
        # Prefix boxes are counted in tokens: in another unit there are none.
        is_known = plugins.unit == "completion" or not scan_relations(render(name, plugins)) & (
            TOKEN_RELATIONS
        )
        if is_known:
            build(con, name, plugins)
    bind_views(con)
    # A load has written the comments of its own relations.
    comment_relations(con, {*LOADED, *VIEWS})


def _make_views(
    con: duckdb.DuckDBPyConnection,
    settings: Settings,
    plugins: Plugins,
    loaded: Sequence[str],
) -> None:
    """Create the views of a replay over empty tables, and drop the tables."""
    con.execute(";".join(loaded))
    for name in VIEWS:
        con.execute(f"create view {name} as {render(name)}")
    store_settings(con, settings, plugins)
    beside = {*relations(con)}
    for name in STAGE_NAMES:
        if name in DRAWN:
            con.execute(f"create table {name} ({DRAWN_COLUMNS[name]})")
        else:
            build(con, name, plugins)
    publish(con, plugins)
    for name, kind in relations(con).items():
        if name in beside or kind == "table":
            con.execute(f"drop {kind} {name}")


def _stat_code() -> list[tuple[str, int, int]]:
    """Return name, size and time of each file of this package, to notice changed code."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return [(file.name, (stat := file.stat()).st_size, stat.st_mtime_ns) for file in files]


def _attach_file(con: duckdb.DuckDBPyConnection, file: Path) -> bool:
    """Attach a cached file of views; tell whether that succeeded."""
    if not file.is_file():
        return False
    try:
        con.execute(f"attach {literal(str(file))} as {MADE} (read_only)")
    except duckdb.Error:
        # A connection of the caller may not be allowed to read files.
        return False
    return True


def _cache_views(con: duckdb.DuckDBPyConnection, file: Path) -> None:
    """Write the attached views to the cache, and delete its oldest files; ignore failures."""
    partial = file.with_suffix(f".{os.getpid()}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        con.execute(f"attach {literal(str(partial))} as kept_views ({SMALL})")
        con.execute(f"copy from database {MADE} to kept_views (schema)")
        con.execute("detach kept_views")
        partial.replace(file)
        newest_first = sorted(
            file.parent.glob("*.duckdb"), key=lambda each: each.stat().st_mtime, reverse=True
        )
        for old in newest_first[MOST_KEPT:]:
            old.unlink(missing_ok=True)
    except (duckdb.Error, OSError):
        with contextlib.suppress(duckdb.Error):
            con.execute("detach kept_views")
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


@contextmanager
def _use_database(con: duckdb.DuckDBPyConnection, database: str) -> Iterator[None]:
    """Use another database for a block."""
    ((catalog, schema),) = con.execute("select current_database(), current_schema()").fetchall()
    con.execute(f"use {database}")
    try:
        yield
    finally:
        con.execute(f"use {quoted(catalog)}.{quoted(schema)}")
