"""One published table, at full precision."""

import duckdb
import pyarrow as pa

from audit.database.schema import lacks_texts, require_attempts, require_replays
from audit.engine.build import render
from audit.engine.lineage import relations_read
from audit.engine.matching import matched_replicates
from audit.engine.sql_files import exploratory_names, table_names
from audit.engine.stages import REPLAY_RELATIONS, TOKEN_RELATIONS
from audit.errors import AuditError, extra_hint
from audit.text import not_there

# Rows of cost_comparisons before they are summed up: archives, replicates, budgets twice.
COMPARED_AT_A_TIME = 4_000_000


def waiting_events(con: duckdb.DuckDBPyConnection, name: str) -> int:
    """How many boundary events have yet to be tokenized before a table is complete."""
    is_table = name in (*table_names(), *exploratory_names())
    if not is_table or not relations_read(render(name)) & TOKEN_RELATIONS:
        return 0
    require_replays(con)
    query = "select count(*) from prefix_events where examined is null"
    return con.execute(query).fetchall()[0][0]


def needs_texts(con: duckdb.DuckDBPyConnection, name: str) -> bool:
    """Whether a table needs texts that the database never had."""
    is_table = name in (*table_names(), *exploratory_names())
    if not is_table or not relations_read(render(name)) & TOKEN_RELATIONS:
        return False
    require_replays(con)
    return lacks_texts(con)


def table(con: duckdb.DuckDBPyConnection, name: str) -> pa.Table:
    """One table of the study, at full precision and sorted by its keys."""
    if name not in (*table_names(), *exploratory_names()):
        raise AuditError(not_there("table", name, table_names()))
    sql = render(name)
    if relations_read(sql) & set(REPLAY_RELATIONS):
        require_replays(con)
    else:
        require_attempts(con)
    if needs_texts(con, name):
        raise AuditError(
            f"{name}: needs the texts, and a run keeps none; 'budget-audit load' the archives that "
            "it is wanted for into another --db"
        )
    if waiting := waiting_events(con, name):
        raise AuditError(
            f"{name}: {waiting:,} boundary events have not been tokenized; run 'budget-audit "
            f"tokenize' (it needs: {extra_hint('tokens')})"
        )
    if name == "cost_comparisons":
        return _cost_comparisons(con, sql)
    if "matched_replicates" in relations_read(sql):
        con.register("matched_replicates", matched_replicates(con))
    try:
        return con.sql(sql).to_arrow_table()
    finally:
        con.unregister("matched_replicates")


def _cost_comparisons(con: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """Every budget against every budget: a few advisory ones at a time, to bound memory."""
    ((budgets, replicates),) = con.execute(
        "select (select count(*) from budgets), (select count(*) from archive_weights)"
    ).fetchall()
    size = max(1, COMPARED_AT_A_TIME // max(1, budgets * replicates))
    if size >= budgets:
        return con.sql(sql).to_arrow_table()
    con.execute("create or replace temp table kept_points as from paired_points")
    try:
        parts = [
            con.sql(
                f"""
                with
                    paired_points as (from temp.main.kept_points),
                    budgets as (from main.budgets order by budget limit {size} offset {first})
                from (
                {sql}
                )
                """
            ).to_arrow_table()
            for first in range(0, budgets, size)
        ]
    finally:
        con.execute("drop table temp.main.kept_points")
    keys = ("archive", "advisory_budget", "strict_budget")
    return pa.concat_tables(parts).sort_by([(key, "ascending") for key in keys])
