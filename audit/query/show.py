"""Show one problem: its attempts, and the text of one attempt."""

from typing import NamedTuple

import duckdb
import pyarrow as pa

from audit.errors import AuditError
from audit.query.run import find_query
from audit.text import not_there


class Problem(NamedTuple):
    """A problem of an archive, with its number and its name (or the number as text)."""

    archive: str
    competition: str
    question_id: int
    name: str


def find_problem(
    con: duckdb.DuckDBPyConnection,
    archive: str | None = None,
    competition: str | None = None,
    question: str | int | None = None,
    among: str = "attempts",
) -> Problem:
    """Find the first problem with this archive, competition and name or number."""
    rows = [
        Problem(*row)
        for row in con.execute(
            "select distinct archive, competition, question_id, "
            "coalesce(name, question_id::varchar) "
            f"from {among} left join problem_names using (competition, question_id) order by all"
        ).fetchall()
    ]
    if not rows:
        raise AuditError("the database holds no attempts; load some with 'budget-audit load'")
    for option, value in (("archive", archive), ("competition", competition), ("name", question)):
        if value is None:
            continue
        found = [row for row in rows if getattr(row, option) == str(value)]
        if not found and option == "name":
            found = [row for row in rows if str(row.question_id) == str(value)]
        if not found:
            word = "question" if option == "name" else option
            there = list(dict.fromkeys(getattr(row, option) for row in rows))
            raise AuditError(f"--{word}: {not_there(word, str(value), there)}")
        rows = found
    return rows[0]


def list_attempts(con: duckdb.DuckDBPyConnection, problem: Problem) -> pa.Table:
    """Select the attempts of a problem: cost, finish reason, answer, label and votes."""
    key = ("archive", "competition", "question_id")
    values = dict(zip(key, map(str, problem[:3]), strict=True))
    return con.sql(find_query("problem_attempts").sql, params=values).to_arrow_table()


def read_text(con: duckdb.DuckDBPyConnection, problem: Problem, seed: int) -> str:
    """Return the stored text of an attempt; if there is none, list its checkpoints."""
    key = problem[:3]
    where = "archive = ? and competition = ? and question_id = ?"
    rows = con.execute(f"select seed from attempts where {where} order by seed", key).fetchall()
    seeds = [str(number) for (number,) in rows]
    if str(seed) not in seeds:
        raise AuditError(f"--seed: {not_there('seed', str(seed), seeds)}")
    rows = con.execute(
        f"select text from texts where {where} and seed = ?", [*key, seed]
    ).fetchall()
    if not rows or rows[0][0] is None:
        asked = (
            "select tokens, kind, coalesce(answer, '(no answer)') from checkpoints "
            f"where {where} and seed = ? order by tokens, kind"
        )
        if checkpoints := con.execute(asked, [*key, seed]).fetchall():
            return "".join(f"{at:>9,} {kind:7} {answer}\n" for at, kind, answer in checkpoints)
        raise AuditError(f"--seed {seed}: its text was not kept; load without --no-texts")
    return rows[0][0]
