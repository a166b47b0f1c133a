"""One published table, at full precision."""

from collections.abc import Sequence
from typing import NamedTuple

import duckdb
import pyarrow as pa

from audit.database.schema import lacks_texts, require_attempts, require_replays
from audit.engine.bootstrap import WEIGHED, weigh
from audit.engine.build import render
from audit.engine.lineage import relations_read
from audit.engine.matching import MATCHED, matched_replicates
from audit.engine.sql_files import exploratory_names, table_names
from audit.engine.stages import REPLAY_RELATIONS, TOKEN_RELATIONS
from audit.errors import AuditError, extra_hint
from audit.text import literal, not_there

# Rows of replicates that a table sums up at a time.
ROWS_AT_A_TIME = 2_000_000
# Tables of every archive or budget against every other, and the column of the other.
SQUARE = {"archive_comparisons": "other", "cost_comparisons": "advisory_budget"}


class Portion(NamedTuple):
    """Conditions: which replicates are made, and which rows of the table are had from them."""

    weighed: str
    shown: str


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
    if relations_read(sql) & {*REPLAY_RELATIONS, *WEIGHED, *MATCHED}:
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
    made = sorted(relations_read(sql) & {*WEIGHED, *MATCHED})
    if not made:
        return con.sql(sql).to_arrow_table()
    if "replicate_curves" in made:
        # What is behind this view takes long, and it is read again and again.
        con.execute("create temp table problem_curves as from problem_curves order by archive")
    try:
        portions = _portions(con, name, made)
        # Archives lead every key, and portions go up: one after the other they are sorted.
        return pa.concat_tables(_portion(con, sql, made, portion) for portion in portions)
    finally:
        for relation in made:
            con.unregister(relation)
        if "replicate_curves" in made:
            con.execute("drop table temp.main.problem_curves")


def _portions(con: duckdb.DuckDBPyConnection, name: str, made: Sequence[str]) -> list[Portion]:
    """The portions of a table whose replicates are held at a time: all, or some archives."""
    archives = [row[0] for row in con.execute("select archive from archives order by 1").fetchall()]
    budgets = [row[0] for row in con.execute("select budget from budgets order by 1").fetchall()]
    ((replicates,),) = con.execute("select max(replicate) + 1 from weights").fetchall()
    rows = replicates * max(_keys(con, relation, archives[0]) for relation in made)
    if name == "cost_comparisons":
        rows *= len(budgets)
    if rows * len(archives) <= ROWS_AT_A_TIME:
        return [Portion("true", "true")]
    if name not in SQUARE or rows <= ROWS_AT_A_TIME:
        parts = _parts("archive", archives, ROWS_AT_A_TIME // rows)
        return [Portion(part, part) for part in parts]
    others = archives if name == "archive_comparisons" else budgets
    parts = _parts(SQUARE[name], others, len(others) * ROWS_AT_A_TIME // rows)
    own = [f"archive = {literal(archive)}" for archive in archives]
    if name == "archive_comparisons":
        return [Portion(f"{one} and {part}", f"{one} and {part}") for one in own for part in parts]
    return [Portion(one, f"{one} and {part}") for one in own for part in parts]


def _parts(column: str, values: Sequence[str | int], size: int) -> list[str]:
    """Conditions that each hold for some neighbouring values."""
    size = max(1, size)
    return [
        f"{column} between {literal(part[0])} and {literal(part[-1])}"
        for part in (values[at : at + size] for at in range(0, len(values), size))
    ]


def _keys(con: duckdb.DuckDBPyConnection, relation: str, archive: str) -> int:
    """How many keys an archive has: those of the first, which has as many as any."""
    totals, keys = (WEIGHED | MATCHED)[relation][:2]
    query = f"select count(distinct ({', '.join(keys)})) from {totals} where archive = ?"
    return max(1, con.execute(query, [archive]).fetchall()[0][0])


def _portion(
    con: duckdb.DuckDBPyConnection, sql: str, made: Sequence[str], portion: Portion
) -> pa.Table:
    """Some rows of a table, from the replicates that they need."""
    weighed = weigh(con, [name for name in made if name in WEIGHED], portion.weighed)
    if set(made) & set(MATCHED):
        weighed["matched_replicates"] = matched_replicates(con, portion.weighed)
    for name in made:
        con.register(name, weighed.pop(name))
    return con.sql(f"from ({sql}) where {portion.shown}").to_arrow_table()
