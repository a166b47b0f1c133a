"""What was not simply recorded: counted tokens, answers that are no boxes, labels graded here."""

import duckdb

from audit.errors import AuditError
from audit.sources import shown

COUNTED = "counted with "
GRADED = "references"


def remember(con: duckdb.DuckDBPyConnection, answer: str) -> None:
    """Keep in `meta` how answers were read, and whose tokens and labels were not recorded."""
    kept = _meta(con, "answer") or "boxed"
    others = con.execute(
        "select min(archive) from attempts anti join incoming using (archive)"
    ).fetchall()
    if kept != answer and others[0][0] is not None:
        raise AuditError(
            f"--answer {answer}: the answers of archive {shown(others[0][0])} were read by "
            f"--answer {kept}, and a database has one kind; load into another --db"
        )
    _keep(con, "answer", None if answer == "boxed" else answer)
    _keep(con, "tokens", _of_sources(con, "completion_tokens", COUNTED))
    _keep(con, "grade", _of_sources(con, "correct", GRADED))


def _of_sources(con: duckdb.DuckDBPyConnection, column: str, begins: str) -> str | None:
    """Where a column is not from the log: in what way, and in which archives if not in all."""
    rows = con.execute(
        f"""
        select json_extract_string(mapping, '$.{column}') as origin, list(distinct archive)
        from sources
        where starts_with(origin, ?) and mapping is not null
        group by origin
        order by origin
        """,
        [begins],
    ).fetchall()
    everyone = {archive for (archive,) in con.execute("select archive from sources").fetchall()}
    whole = len(rows) == 1 and set(rows[0][1]) == everyone
    return (
        "; ".join(
            origin if whole else f"{origin} ({', '.join(sorted(archives))})"
            for origin, archives in rows
        )
        or None
    )


def _keep(con: duckdb.DuckDBPyConnection, key: str, value: str | None) -> None:
    con.execute("delete from meta where key = ?", [key])
    if value is not None:
        con.execute("insert into meta values (?, ?)", [key, value])


def _meta(con: duckdb.DuckDBPyConnection, key: str) -> str | None:
    rows = con.execute("select value from meta where key = ?", [key]).fetchall()
    return rows[0][0] if rows else None


def notes(con: duckdb.DuckDBPyConnection) -> str:
    """One line to stand under every table: how answers, costs and labels came about."""
    cost = cost_note(con) or "completion tokens recorded"
    parts = [simulated_note(con), answer_note(con), cost, grade_note(con) or "labels: as recorded"]
    return "; ".join(part for part in parts if part)


def simulated_note(con: duckdb.DuckDBPyConnection) -> str | None:
    """Which archives no model made."""
    rows = con.execute(
        "select distinct archive from sources where simulated order by archive"
    ).fetchall()
    return f"SIMULATED DATA ({', '.join(archive for (archive,) in rows)})" if rows else None


def cost_note(con: duckdb.DuckDBPyConnection) -> str | None:
    """How the completion tokens were counted, where they were not recorded."""
    tokens = _meta(con, "tokens")
    return None if tokens is None else f"completion tokens {tokens}"


def answer_note(con: duckdb.DuckDBPyConnection) -> str:
    """What every majority votes on."""
    answer = _meta(con, "answer") or "boxed"
    kinds = {"boxed": "the last boxed answer", "archive": "the archive's own extraction"}
    return "answers: " + kinds.get(answer, f"the last match of {answer.removeprefix('regex:')}")


def grade_note(con: duckdb.DuckDBPyConnection) -> str | None:
    """How labels were made, where they are not the log's."""
    grade = _meta(con, "grade")
    return None if grade is None else f"labels: normalized answers compared with the {grade}"
