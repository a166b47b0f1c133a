"""Compute one published table, at full precision."""

from collections.abc import Iterable

import duckdb
import pyarrow as pa

from audit.database.schema import lacks_texts, require_attempts, require_replays
from audit.engine.build import convert_costs, render
from audit.engine.lazy import prepared
from audit.engine.lineage import scan_relations
from audit.engine.replay import refuse_other_replays
from audit.engine.sql_files import find_file, list_tables
from audit.engine.stages import REPLAY_RELATIONS, TOKEN_RELATIONS
from audit.errors import AuditError, first_line, install_hint
from audit.text import not_there


def _is_reading_tokens(con: duckdb.DuckDBPyConnection, name: str) -> bool:
    """Tell whether a table reads tokenized texts; if so, refuse a database without replays."""
    if name not in list_tables() or not scan_relations(render(name)) & TOKEN_RELATIONS:
        return False
    require_replays(con)
    return True


def count_waiting_events(con: duckdb.DuckDBPyConnection, name: str) -> int:
    """Count the boundary events still to be tokenized before a table is complete."""
    if not _is_reading_tokens(con, name):
        return 0
    query = "select count(*) from prefix_events where examined is null"
    return con.execute(query).fetchall()[0][0]


def find_relations_behind(names: Iterable[str]) -> set[str]:
    """Return the relations behind some names: what tables read, and other names as they are."""
    tables = set(list_tables())
    return {
        relation
        for name in names
        for relation in (scan_relations(render(name)) if name in tables else {name})
    }


def compute_table(con: duckdb.DuckDBPyConnection, name: str) -> pa.Table:
    """Compute one table by name, at full precision and sorted by its keys."""
    if name not in list_tables():
        raise AuditError(not_there("table", name, list_tables()))
    sql = render(name)
    is_replayed = bool(scan_relations(sql) & set(REPLAY_RELATIONS))
    if is_replayed:
        require_replays(con)
    else:
        require_attempts(con)
    reads_tokens = _is_reading_tokens(con, name)
    if reads_tokens and con.execute("select unit from unit").fetchall() != [("completion",)]:
        raise AuditError(f"{name}: cuts texts at tokens; replay with --unit completion")
    if reads_tokens and lacks_texts(con):
        raise AuditError(
            f"{name}: needs the texts, and a run keeps none; 'budget-audit load' the archives that "
            "it is wanted for into another --db"
        )
    if waiting := count_waiting_events(con, name):
        raise AuditError(
            f"{name}: {waiting:,} boundary events have not been tokenized; run 'budget-audit "
            f"tokenize' (it needs: {install_hint('tokens')})"
        )
    try:
        with prepared(con, scan_relations(sql)):
            if is_replayed:
                ((unit,),) = con.execute("select unit from unit").fetchall()
                sql = convert_costs(con, name, sql, unit)
            return con.sql(sql).to_arrow_table()
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        refuse_other_replays(con, error)
        raise AuditError(f"sql/{find_file(name)}: {first_line(error)}") from None
