"""Confidence intervals of paired differences between two runs, by a bootstrap over problems."""

from collections.abc import Sequence

import duckdb
import pyarrow as pa

from audit.database.arrow import insert
from audit.engine.build import render_file
from audit.engine.draws import draw_counts


def paired_intervals(
    con: duckdb.DuckDBPyConnection,
    differences: str,
    keys: Sequence[str],
    replicates: int,
    seed: int,
) -> pa.Table:
    """Return the mean difference of each key, with its 95 % interval over problems.

    The select `differences` has the columns of `keys`, competition, problem and difference. All
    keys use the same draws. The connection keeps temporary tables.
    """
    con.execute(f"create or replace temp table paired_differences as {differences}")
    con.execute(
        "create or replace temp table drawn_problems as "
        "select *, row_number() over (order by competition, problem)::integer as problem_id "
        "from (select distinct competition, problem from paired_differences)"
    )
    sizes = con.execute(
        "select count(*) from drawn_problems group by competition order by competition"
    ).fetchall()
    con.execute(
        "create or replace temp table drawn_counts "
        "(replicate integer, first_problem integer, counts utinyint[])"
    )
    for batch in draw_counts([size for (size,) in sizes], replicates, seed):
        insert(con, "insert into drawn_counts", batch)
    sql = render_file("bootstrap/paired_intervals.jinja", keys=list(keys))
    return con.sql(sql).to_arrow_table()
