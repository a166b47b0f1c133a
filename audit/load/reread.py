"""Change the kind of answer of a loaded database, from its stored texts and answers."""

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from audit.answers.extract import NO_ANSWER, compile_pattern, extract_answers, normalize_answers
from audit.database import check_schema, cursor, insert, require_attempts, transaction
from audit.database.schema import KEY, read_fact
from audit.engine import make_stale, quality, render
from audit.errors import AuditError
from audit.load.gate import require_answers
from audit.load.provenance import GRADE, has_numbers, store_provenance
from audit.load.schema import KEY_FIELDS, temporary_tables
from audit.load.staging import remove_derived
from audit.sources.files import excerpt

ANSWERS = ("raw_answer", "answer", "archive_answer")
ANSWER_SCHEMA = pa.schema([*KEY_FIELDS, *((name, pa.string()) for name in ANSWERS)])
# Texts may be long, so few are in memory at once.
BATCH_ROWS = 2048


@dataclass(frozen=True)
class RereadSummary:
    """The result of a reread: attempts with answers before and after, and what it removed."""

    attempts: int
    answered_before: int
    answered: int
    replays_dropped: bool
    derived_removed: int


def reread(con: duckdb.DuckDBPyConnection, answer: str, *, force: bool = False) -> RereadSummary:
    """Replace the answers of all attempts by another kind, in one transaction; return counts."""
    compile_pattern(answer)
    check_schema(con)
    require_attempts(con)
    if answer == NO_ANSWER and read_fact(con, GRADE):
        raise AuditError(
            "--answer none: the labels were made by comparing answers with references; load with "
            "the source's own labels first"
        )
    counts = "select count(*), count(answer) from attempts"
    with transaction(con):
        derived = remove_derived(con)
        _require_texts(con, answer)
        ((attempts, before),) = con.execute(counts).fetchall()
        _replace_answers(con, answer)
        if not force:
            archives = con.execute("select distinct archive from attempts").fetchall()
            require_answers(con, {archive for (archive,) in archives}, answer)
        store_provenance(con, answer, numbers=has_numbers(con))
        quality.count_records(con)
        dropped = make_stale(con, "answers were read again")
        ((_, after),) = con.execute(counts).fetchall()
    return RereadSummary(attempts, before, after, dropped, derived)


def _replace_answers(con: duckdb.DuckDBPyConnection, answer: str) -> None:
    """Replace all answers by another kind; grade again where labels came from references."""
    insert(con, "create temp table read_again as", ANSWER_SCHEMA.empty_table())
    # A second connection reads, because this one inserts meanwhile.
    with cursor(con) as reader:
        for rows in _extract_stored(reader, answer, numbers=has_numbers(con)):
            insert(con, "insert into read_again", rows)
    con.execute("update attempts set answer = null, archive_answer = null, eligible = false")
    con.execute(
        "update attempts set answer = read_again.answer, "
        "archive_answer = read_again.archive_answer, "
        "eligible = finish_reason = 'stop' and read_again.answer is not null "
        f"from read_again where {_match_attempts('attempts', 'read_again')}"
    )
    if answer == NO_ANSWER:
        con.execute("update attempts set eligible = finish_reason = 'stop'")
    order = ", ".join(KEY)
    con.execute("delete from raw_answers")
    con.execute(
        f"insert into raw_answers select {order}, raw_answer from read_again "
        f"where answer is not null order by {order}"
    )
    con.execute("drop table read_again")
    with temporary_tables(con, "reference_grades"):
        con.execute(
            "update labels set correct = reference_grades.correct from reference_grades "
            f"where {_match_attempts('labels', 'reference_grades')}"
        )


def _require_texts(con: duckdb.DuckDBPyConnection, answer: str) -> None:
    """Refuse a kind of answer that needs texts if an archive was loaded with --no-texts."""
    without = con.execute("select min(archive) from attempts anti join texts using (archive)")
    ((archive,),) = without.fetchall()
    if archive is not None and answer not in ("archive", NO_ANSWER):
        raise AuditError(
            f"--answer {answer}: archive {excerpt(archive)} was loaded with --no-texts; load it "
            "again with its texts"
        )


def _extract_stored(
    con: duckdb.DuckDBPyConnection, answer: str, *, numbers: bool
) -> Iterator[pa.Table]:
    """Extract raw and normalized answers from the stored records, batch by batch."""
    if answer == NO_ANSWER:
        return
    query = "select *, null::varchar as text from recorded_answers" if answer == "archive" else None
    for batch in con.sql(query or render("stored_records")).to_arrow_reader(BATCH_ROWS):
        texts = batch["text"].cast(pa.large_string())
        recorded = batch["raw_archive_answer"]
        raw = extract_answers(answer, texts, batch["boxed_answer"], recorded)
        forms = [normalize_answers(one, numbers=numbers) for one in (raw, recorded)]
        columns = [*(batch[name] for name, _ in KEY_FIELDS), raw, *forms]
        yield pa.Table.from_arrays(columns, schema=ANSWER_SCHEMA)


def _match_attempts(table: str, other: str) -> str:
    """Write the SQL condition that rows of two tables belong to one attempt."""
    return " and ".join(f"{table}.{name} = {other}.{name}" for name in KEY)
