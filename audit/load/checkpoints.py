"""Checkpoints, the answers of attempts before their end: read from a column and from a file."""

import glob
from collections.abc import Iterator, Sequence

import duckdb
import pyarrow as pa

from audit.answers.extract import normalize_answers
from audit.database import insert
from audit.engine import render
from audit.errors import AuditError, first_line
from audit.options import Reading
from audit.sources.canonical import CHECKPOINT_COLUMNS, COLUMNS, read_column
from audit.sources.containers import sniff
from audit.sources.files import Chunk, Source, SourceFile, find_files, refuse_changes

# Columns of a checkpoint file; its question_id is a text, for a name or a number.
KEY_COLUMNS = {name: COLUMNS[name] for name in ("archive", "competition", "seed")}
FILE_COLUMNS = {**KEY_COLUMNS, "question_id": COLUMNS["competition"], **CHECKPOINT_COLUMNS}
FIELDS = [(name, column.type) for name, column in FILE_COLUMNS.items()]
FILE_SCHEMA = pa.schema([("file", pa.int32()), ("row", pa.int64()), *FIELDS])
REQUIRED = ("archive", "competition", "question_id", "seed", "tokens")
READ_JSON = f"read_json($path, columns = {dict.fromkeys(FILE_COLUMNS, 'varchar')})"
READERS = {
    "parquet": "read_parquet($path)",
    "csv": "read_csv($path, header = true, all_varchar = true, delim = ',')",
    "json": READ_JSON,
    "jsonl": READ_JSON,
}
BATCH_ROWS = 50_000


def find_checkpoint_file(reading: Reading) -> SourceFile | None:
    """Find the file of --checkpoints, with its size and time; return None without the option."""
    if reading.checkpoints is None:
        return None
    files = find_files([glob.escape(reading.checkpoints)])
    if len(files) != 1:
        raise AuditError(f"--checkpoints {reading.checkpoints}: is a folder; name one file")
    return files[0]


def load_checkpoints(
    con: duckdb.DuckDBPyConnection,
    files: list[SourceFile],
    file: SourceFile | None,
    reading: Reading,
) -> list[str]:
    """Check the checkpoints of the attempts in `incoming` and insert them; return notes."""
    notes: list[str] = []
    insert(con, "create temp table filed_checkpoints as", FILE_SCHEMA.empty_table())
    if file is not None:
        for rows in refuse_changes(file, _check_rows(file, len(files), notes)):
            insert(con, "insert into filed_checkpoints", rows)
    con.execute(f"create temp table incoming_checkpoints as {render('incoming_checkpoints')}")
    if file is not None and "drop" in (reading.unlabelled, reading.failed):
        # Checkpoints of attempts that were left out belong to no attempt.
        delete = "delete from incoming_checkpoints where completion_tokens is null"
        ((count,),) = con.execute(delete).fetchall()
        what = f"{file.shown_name}: {count:,} checkpoints of attempts that were left out"
        notes += [what] if count else []
    _refuse_faulty(con, [*files, *([file] if file else [])])
    _normalize_answers(con, numbers=reading.numbers)
    for name in ("checkpoints", "checkpoint_labels"):
        con.execute(f"insert into {name} {render(name)}")
    con.execute("drop table answer_forms; drop table filed_checkpoints")
    return notes


def _check_rows(file: SourceFile, number: int, notes: list[str]) -> Iterator[pa.Table]:
    """Read a checkpoint file and check every value against the rule of its column."""
    source = Source(file, "checkpoints", {}, iter(()))
    done = 0
    for batch in _read_batches(file, notes):
        chunk = Chunk({}, range(done + 1, done + 1 + len(batch)), 0)
        done += len(batch)
        columns = [
            read_column(source, chunk, name, column, _cast_column(batch, name, column.type))
            for name, column in FILE_COLUMNS.items()
        ]
        places = [pa.repeat(pa.scalar(number, pa.int32()), len(batch)), pa.array(chunk.rows)]
        yield pa.Table.from_arrays([*places, *columns], schema=FILE_SCHEMA)
    if not done:
        raise file.unreadable("holds no rows; leave out --checkpoints")


def _read_batches(file: SourceFile, notes: list[str]) -> Iterator[pa.RecordBatch]:
    """Read a checkpoint file in batches, with DuckDB in memory; note the ignored columns."""
    reader = READERS.get(sniff(file).container)
    if reader is None:
        raise file.unreadable("is a zip archive: unpack it")
    values = {"path": glob.escape(str(file.path))}
    with duckdb.connect() as con:
        try:
            names = con.sql(f"from {reader}", params=values).columns
            if missing := [name for name in REQUIRED if name not in names]:
                raise file.error(f"no column {missing[0]}; it has {', '.join(names)}")
            others = [name for name in names if name not in FILE_COLUMNS]
            notes += [f"{file.shown_name}: column {name} is not read" for name in others]
            columns = ", ".join(name for name in FILE_COLUMNS if name in names)
            table = f"(select * replace (question_id::varchar as question_id) from {reader})"
            rows = con.sql(f"select {columns} from {table}", params=values)
            yield from rows.to_arrow_reader(BATCH_ROWS)
        except duckdb.Error as error:
            raise file.unreadable(f"cannot be read: {first_line(error)}") from None


def _cast_column(batch: pa.RecordBatch, name: str, type: pa.DataType) -> pa.Array:
    """Cast a column to its type where all texts allow it; fill a missing one with nulls."""
    if name not in batch.schema.names:
        return pa.nulls(len(batch), type)
    values = batch.column(name)
    try:
        return values.cast(type) if pa.types.is_string(values.type) else values
    except pa.ArrowInvalid:
        return values  # The column's rule finds the row.


def name_file(files: Sequence[SourceFile], number: int | None) -> str:
    """Return the name of a file by its number, or "the select" for rows that have no file."""
    return "the select" if number is None else files[number].shown_name


def _refuse_faulty(con: duckdb.DuckDBPyConnection, files: list[SourceFile]) -> None:
    """Refuse the first checkpoint that breaks a rule, with its file, row and column."""
    for file, row, item, column, problem in con.execute(
        f"{render('faulty_checkpoints')} limit 1"
    ).fetchall():
        place = f"{column}:" if item is None else f"checkpoints: checkpoint {item}: {column}"
        raise AuditError(f"{name_file(files, file)}: row {row}, column {place} {problem}")


def _normalize_answers(con: duckdb.DuckDBPyConnection, *, numbers: bool) -> None:
    """Create `answer_forms`: each distinct answer of a checkpoint with its normal form."""
    raw = con.sql("select distinct answer from incoming_checkpoints where answer is not null")
    raw_answers = raw.to_arrow_table()["answer"].combine_chunks().cast(pa.string())
    answers = normalize_answers(raw_answers, numbers=numbers)
    table = pa.table({"raw_answer": raw_answers, "answer": answers})
    insert(con, "create temp table answer_forms as", table)
