"""One problem: its attempts, and what the model wrote in one of them."""

from typing import Any

import duckdb
import pyarrow as pa

from audit.errors import AuditError
from audit.query.run import find_query
from audit.text import not_there


def problem(
    con: duckdb.DuckDBPyConnection,
    archive: str | None = None,
    competition: str | None = None,
    question: int | None = None,
    among: str = "attempts",
) -> tuple[str, str, int]:
    """The problem that is asked for, its missing parts the first there are in a relation."""
    key: dict[str, Any] = {}
    for option, column, value in (
        ("archive", "archive", archive),
        ("competition", "competition", competition),
        ("question", "question_id", question),
    ):
        where = " and ".join(f"{name} = ${name}" for name in key) or "true"
        sql = f"select distinct {column} from {among} where {where} order by 1"
        values = [row[0] for row in con.execute(sql, key).fetchall()]
        if not values:
            raise AuditError("the database holds no attempts; load some with 'budget-audit load'")
        if value is not None and value not in values:
            raise AuditError(f"--{option}: {not_there(option, str(value), list(map(str, values)))}")
        key[column] = values[0] if value is None else value
    return key["archive"], key["competition"], key["question_id"]


def attempts(con: duckdb.DuckDBPyConnection, key: tuple[str, str, int]) -> pa.Table:
    """The attempts of a problem: cost, finish, answer, label and votes."""
    values = dict(zip(("archive", "competition", "question_id"), map(str, key), strict=True))
    return con.sql(find_query("problem_attempts").sql, params=values).to_arrow_table()


def text(con: duckdb.DuckDBPyConnection, key: tuple[str, str, int], seed: int) -> str:
    """What was generated in one attempt."""
    where = "archive = ? and competition = ? and question_id = ?"
    rows = con.execute(f"select seed from attempts where {where} order by seed", key).fetchall()
    seeds = [str(number) for (number,) in rows]
    if str(seed) not in seeds:
        raise AuditError(f"--seed: {not_there('seed', str(seed), seeds)}")
    rows = con.execute(
        f"select text from texts where {where} and seed = ?", [*key, seed]
    ).fetchall()
    if not rows or rows[0][0] is None:
        raise AuditError(f"--seed {seed}: its text was not kept; load without --no-texts")
    return rows[0][0]
