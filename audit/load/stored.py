"""Answers of any kind from what a database keeps: texts, and the extractions of its sources."""

from collections.abc import Iterator

import duckdb
import pyarrow as pa

from audit.answers.extract import NO_ANSWER, normal_answers, number_forms, raw_answers
from audit.engine import render
from audit.errors import AuditError
from audit.load.schema import KEY_FIELDS
from audit.sources.files import excerpt

ANSWERS = ("raw_answer", "answer", "archive_answer")
STORED = pa.schema([*KEY_FIELDS, *((name, pa.string()) for name in ANSWERS)])
# Texts may be long: only so many are in memory at once.
BATCH_ROWS = 2048


def require_texts(con: duckdb.DuckDBPyConnection, answer: str) -> None:
    """Refuse a kind of answer that is read from texts where an archive was loaded without them."""
    without = con.execute("select min(archive) from attempts anti join texts using (archive)")
    ((archive,),) = without.fetchall()
    if archive is not None and answer not in ("archive", NO_ANSWER):
        raise AuditError(
            f"--answer {answer}: archive {excerpt(archive)} was loaded with --no-texts; load it "
            "again with its texts"
        )


def stored_answers(
    con: duckdb.DuckDBPyConnection, answer: str, *, numbers: bool
) -> Iterator[pa.RecordBatch]:
    """Yield the answers of attempts as written and normalized, and those of the source."""
    query = "select *, null::varchar as text from recorded_answers" if answer == "archive" else None
    for batch in con.sql(query or render("stored_records")).to_arrow_reader(BATCH_ROWS):
        texts = batch["text"].cast(pa.large_string())
        own = batch["raw_archive_answer"]
        raw = raw_answers(answer, texts, batch["boxed_answer"], own)
        forms = [normal_answers(raw), normal_answers(own)]
        forms = list(map(number_forms, forms)) if numbers else forms
        columns = [*(batch[name] for name, _ in KEY_FIELDS), raw, *forms]
        yield pa.RecordBatch.from_arrays(columns, schema=STORED)
