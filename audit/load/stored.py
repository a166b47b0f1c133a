"""Answers of any kind from what a database keeps: texts, and the extractions of its sources."""

from collections.abc import Iterator

import duckdb
import pyarrow as pa

from audit.answers.extract import NO_ANSWER, normal_answers, number_forms, raw_answers
from audit.engine import render
from audit.errors import AuditError
from audit.load.schema import KEY_FIELDS
from audit.sources.files import excerpt

STORED = pa.schema([*KEY_FIELDS, ("raw_answer", pa.string()), ("answer", pa.string())])
# Texts may be long: only so many are in memory at once.
BATCH_ROWS = 2048


def archives_without_texts(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the archives that were loaded with --no-texts."""
    archives = con.execute("select distinct archive from attempts anti join texts using (archive)")
    return sorted(archive for (archive,) in archives.fetchall())


def require_texts(con: duckdb.DuckDBPyConnection, answer: str) -> None:
    """Refuse a kind of answer that is read from texts where an archive was loaded without them."""
    without = [] if answer in ("archive", NO_ANSWER) else archives_without_texts(con)
    if without:
        raise AuditError(
            f"--answer {answer}: archive {excerpt(without[0])} was loaded with --no-texts; load it "
            "again with its texts"
        )


def stored_answers(
    con: duckdb.DuckDBPyConnection, answer: str, *, numbers: bool = False
) -> Iterator[pa.RecordBatch]:
    """Yield the answers of all attempts that have one, as written and normalized."""
    if answer == NO_ANSWER:
        return
    query = "select *, null::varchar as text from recorded_answers" if answer == "archive" else None
    for batch in con.sql(query or render("stored_records")).to_arrow_reader(BATCH_ROWS):
        texts = batch["text"].cast(pa.large_string())
        raw = raw_answers(answer, texts, batch["boxed_answer"], batch["raw_archive_answer"])
        forms = normal_answers(raw)
        forms = number_forms(forms) if numbers else forms
        columns = [*(batch[name] for name, _ in KEY_FIELDS), raw, forms]
        rows = pa.RecordBatch.from_arrays(columns, schema=STORED)
        yield rows.filter(rows["answer"].is_valid())
