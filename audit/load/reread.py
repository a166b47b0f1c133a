"""Another kind of answer for a database that is loaded: read again from what it keeps."""

from dataclasses import dataclass

import duckdb

from audit.answers.extract import NO_ANSWER, answer_pattern
from audit.database import check_schema, cursor, require_attempts, transaction
from audit.database.schema import KEY, fact
from audit.engine import make_stale, quality, render
from audit.errors import AuditError, explained
from audit.load.gate import require_fit
from audit.load.provenance import GRADE, has_numbers, remember
from audit.load.schema import sql_columns
from audit.load.staging import insert_stream, remove_derived
from audit.load.stored import STORED, require_texts, stored_answers


@dataclass(frozen=True)
class RereadSummary:
    """How many attempts have an answer, before and after, and whether that cost the replays."""

    attempts: int
    answered_before: int
    answered: int
    replays_dropped: bool
    derived_removed: int


def reread(con: duckdb.DuckDBPyConnection, answer: str, *, force: bool = False) -> RereadSummary:
    """Give every attempt its answer of another kind, in one transaction, or change nothing."""
    answer_pattern(answer)
    check_schema(con)
    require_attempts(con)
    if answer == NO_ANSWER and fact(con, GRADE):
        raise AuditError(
            "--answer none: the labels were made by comparing answers with references; load with "
            "the source's own labels first"
        )
    counts = "select count(*), count(answer) from attempts"
    try:
        with transaction(con):
            derived = remove_derived(con)
            require_texts(con, answer)
            ((attempts, before),) = con.execute(counts).fetchall()
            _read_again(con, answer)
            _regrade(con)
            archives = con.execute("select distinct archive from attempts").fetchall()
            if not force:
                require_fit(con, {archive for (archive,) in archives}, answer)
            remember(con, answer, numbers=has_numbers(con))
            quality.count_records(con)
            dropped = make_stale(con, "answers were read again")
            ((_, after),) = con.execute(counts).fetchall()
    except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
        raise AuditError(f"the database could not be written: {explained(error)}") from None
    return RereadSummary(attempts, before, after, dropped, derived)


def _read_again(con: duckdb.DuckDBPyConnection, answer: str) -> None:
    """Replace the answers of all attempts by those of another kind, read from what is kept."""
    con.execute("delete from raw_answers")
    con.execute("update attempts set answer = null, archive_answer = null, eligible = false")
    if answer == NO_ANSWER:
        con.execute("update attempts set eligible = finish_reason = 'stop'")
        return
    con.execute(f"create temp table read_again ({sql_columns(STORED)})")
    # What is read is read on another connection: this one inserts meanwhile.
    with cursor(con) as reader:
        stored = stored_answers(reader, answer, numbers=has_numbers(con))
        insert_stream(con, "insert into read_again", STORED, stored)
    con.execute(
        "update attempts set answer = read_again.answer, "
        "archive_answer = read_again.archive_answer, "
        "eligible = finish_reason = 'stop' and read_again.answer is not null "
        f"from read_again where {_same_attempt('attempts', 'read_again')}"
    )
    order = ", ".join(KEY)
    con.execute(
        f"insert into raw_answers select {order}, raw_answer from read_again "
        f"where answer is not null order by {order}"
    )
    con.execute("drop table read_again")


def _regrade(con: duckdb.DuckDBPyConnection) -> None:
    """Compare the new answers with the references where that is how labels were made."""
    con.execute(f"create temp table regraded as {render('reference_grades')}")
    con.execute(
        "update labels set correct = regraded.correct "
        f"from regraded where {_same_attempt('labels', 'regraded')}"
    )
    con.execute("drop table regraded")


def _same_attempt(table: str, other: str) -> str:
    return " and ".join(f"{table}.{name} = {other}.{name}" for name in KEY)
