"""What a database of ours holds, which version it has, and whether its replays are fresh."""

import duckdb

from audit.errors import AuditError
from audit.text import visible

# Version of the tables that `load` creates. A database with another version is refused when it is
# opened.
SCHEMA_VERSION = 3
# Keys of `meta`: the run folder in whose files large relations were left, and whether texts were
# kept at all.
LINKED = "linked_run"
TEXTS = "texts"
# What `load` keeps as tables. A view or a trigger in such a place would run a stranger's SQL.
LOADED_TABLES = (
    "attempts",
    "texts",
    "raw_answers",
    "recorded_answers",
    "labels",
    "accepted_references",
    "problem_names",
    "quality_counts",
    "sources",
    "meta",
    "token_counts",
    "prefix_cuts",
)


def check_schema(con: duckdb.DuckDBPyConnection, name: str = "the database") -> None:
    """Refuse a database that something else, or another version, has made."""
    present = con.execute(
        "select table_name from information_schema.tables "
        "where table_catalog = current_database() order by table_name"
    ).fetchall()
    if not present:
        return
    try:
        query = "select value from meta where key = 'schema_version'"
        ((version,),) = con.execute(query).fetchall()
        found = int(version)
    except (duckdb.CatalogException, duckdb.BinderException, TypeError, ValueError):
        some = ", ".join(table for (table,) in present[:5])
        raise AuditError(
            f"{name}: holds tables of another program ({some}); choose another --db"
        ) from None
    if found != SCHEMA_VERSION:
        age = "an older" if found < SCHEMA_VERSION else "a newer"
        what = "" if found < SCHEMA_VERSION else "use that one, or "
        raise AuditError(
            f"{name}: made by {age} budget-audit (schema version {found}, this one reads "
            f"{SCHEMA_VERSION}); {what}load the sources into a new --db"
        )
    check_strangers(con, name)


def check_strangers(con: duckdb.DuckDBPyConnection, name: str = "the database") -> None:
    """Refuse a database that would run SQL of its own where we read and write."""
    kinds = relations(con)
    for table in LOADED_TABLES:
        if kinds.get(table) == "view":
            raise AuditError(f"{name}: '{table}' is a view, not the table that load makes")
    triggers = con.execute(
        "select trigger_name, table_name from duckdb_triggers() "
        "where database_name = current_database() order by all"
    ).fetchall()
    if triggers:
        what = " on ".join(f"'{visible(part)}'" for part in triggers[0])
        raise AuditError(
            f"{name}: holds a trigger {what}, which budget-audit does not run; drop it"
        )
    # Functions go by their names in any case, and a call may name any schema.
    macros = con.execute(
        """
        select function_name
        from duckdb_functions()
        where not internal and lower(function_name) in (
            select lower(function_name) from duckdb_functions() where internal
        )
        order by function_name
        """
    ).fetchall()
    if macros:
        what = f"a macro '{visible(macros[0][0])}'"
        raise AuditError(f"{name}: holds {what} in the place of DuckDB's own function; drop it")


def relations(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The tables and views of the database, with their kinds."""
    return dict(
        con.execute(
            """
            select table_name, if(table_type = 'VIEW', 'view', 'table')
            from information_schema.tables
            where table_catalog = current_database() and table_schema = 'main'
            """
        ).fetchall()
    )


def require_attempts(con: duckdb.DuckDBPyConnection) -> None:
    """Refuse a database into which nothing was loaded."""
    names = {name for (name,) in con.execute("select table_name from duckdb_tables()").fetchall()}
    if "meta" not in names or not con.execute("select 1 from attempts limit 1").fetchall():
        raise AuditError("the database holds no attempts; load some with 'budget-audit load'")


def require_replays(con: duckdb.DuckDBPyConnection) -> None:
    """Refuse where there are no replays, or where a load has made them stale."""
    require_attempts(con)
    states = con.execute("select value from meta where key = 'replays'").fetchall()
    if states == [("stale",)]:
        raise AuditError(
            "the replays are stale: archives were loaded since; run 'budget-audit replay' again"
        )
    if states != [("fresh",)]:
        raise AuditError("there are no replays yet; run 'budget-audit replay'")


def linked_run(con: duckdb.DuckDBPyConnection) -> str | None:
    """The run folder whose files some views of the database read, where they do.

    Nothing of the database's own is run to find out: a view in the place of `meta` is not read.
    """
    ((is_table, is_linked),) = con.execute(
        """
        select
            exists (
                from duckdb_tables()
                where database_name = current_database() and table_name = 'meta'
            ),
            exists (
                from duckdb_views()
                where database_name = current_database() and contains(sql, 'read_parquet(')
            ),
        """
    ).fetchall()
    if not (is_table and is_linked):
        return None
    rows = con.execute("select value from meta where key = ?", [LINKED]).fetchall()
    return rows[0][0] if rows else None


def lacks_texts(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether the database was gathered from a run, which keeps no texts."""
    query = "select 1 from meta where key = ? and value = 'none'"
    return bool(con.execute(query, [TEXTS]).fetchall())
