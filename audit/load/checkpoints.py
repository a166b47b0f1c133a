"""Checkpoints: what attempts would have answered before their end, from a column and a file."""

import glob
from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
import pyarrow as pa

from audit.answers.extract import normal_answers, number_forms
from audit.database import insert
from audit.engine import render
from audit.errors import AuditError, first_line
from audit.load.schema import KEY_FIELDS, sql_columns
from audit.load.staging import insert_stream
from audit.options import Reading
from audit.sources.canonical import (
    CHECKPOINT_COLUMNS,
    COLUMNS,
    Column,
    problem_name,
    read_column,
    whole_number,
)
from audit.sources.containers import sniff
from audit.sources.files import Chunk, Source, SourceFile, find_files, while_unchanged

# The rows of a file; those of a column have the number of the item in place of a file's own fields.
FILED = pa.schema(
    [
        ("file", pa.int32()),
        ("row", pa.int64()),
        ("item", pa.int64()),
        *KEY_FIELDS,
        *((name, column.type) for name, column in CHECKPOINT_COLUMNS.items()),
    ]
)
REQUIRED = ("archive", "competition", "question_id", "seed", "tokens")
NAMES = (*(name for name, _ in KEY_FIELDS), *CHECKPOINT_COLUMNS)
READERS = {
    "parquet": "read_parquet($path)",
    "csv": "read_csv($path, header = true, all_varchar = true{compression})",
    "json": "read_json($path, columns = {{{columns}}}{compression})",
}
BATCH_ROWS = 50_000


def checkpoint_file(reading: Reading) -> SourceFile | None:
    """Return the file that --checkpoints names, as it is now."""
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
    """Keep the checkpoints of the attempts in `incoming`, or refuse them; return notes."""
    notes: list[str] = []
    con.execute(f"create temp table filed_checkpoints ({sql_columns(FILED)})")
    if file is not None:
        named = con.execute("select competition, name, question_id from problem_names").fetchall()
        ids = {(competition, name): at for competition, name, at in named}
        rows = _checked_rows(file, len(files), ids, notes)
        insert_stream(con, "insert into filed_checkpoints", FILED, while_unchanged(file, rows))
    con.execute(f"create temp table incoming_checkpoints as {render('incoming_checkpoints')}")
    if file is not None and "drop" in (reading.unlabelled, reading.failed):
        notes += _leave_out(con, file)
    _refuse_faulty(con, [*files, *([file] if file else [])])
    _normalize_answers(con, numbers=reading.numbers)
    for name in ("checkpoints", "checkpoint_labels"):
        con.execute(f"insert into {name} {render(name)}")
    con.execute("drop table answer_forms; drop table filed_checkpoints")
    return notes


def _checked_rows(
    file: SourceFile, number: int, ids: Mapping[tuple[str, str], int], notes: list[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file, every value checked; a problem's name becomes its number."""
    columns: dict[str, Column] = {name: COLUMNS[name] for name, _ in KEY_FIELDS}
    columns |= CHECKPOINT_COLUMNS
    if ids:
        columns["question_id"] = Column(pa.string(), problem_name)
    source = Source(file, "checkpoints", {}, iter(()))
    done = 0
    for batch in _batches(file, notes):
        chunk = Chunk({}, range(done + 1, done + 1 + len(batch)), 0)
        done += len(batch)
        read = {
            name: read_column(source, chunk, name, column, _plain(batch, name, column))
            for name, column in columns.items()
        }
        if ids:
            read["question_id"] = _numbers(source, chunk, ids, read)
        read["file"] = pa.repeat(pa.scalar(number, pa.int32()), len(batch))
        read["row"] = pa.array(chunk.rows, pa.int64())
        read["item"] = pa.nulls(len(batch), pa.int64())
        yield pa.RecordBatch.from_arrays([read[name] for name in FILED.names], schema=FILED)
    if not done:
        raise file.unreadable("holds no rows; leave out --checkpoints")


def _batches(file: SourceFile, notes: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file as DuckDB reads them, apart from every database."""
    container = sniff(file).container
    is_gzipped = container != "parquet" and _is_gzipped(file)
    reader = READERS["json" if container == "jsonl" else container].format(
        columns=", ".join(f"{name}: 'varchar'" for name in NAMES),
        compression=", compression = 'gzip'" if is_gzipped else "",
    )
    values = {"path": glob.escape(str(file.path))}
    with duckdb.connect() as con:
        try:
            has = con.execute(f"describe from {reader}", values).fetchall()
            names = [name for name, *_ in has]
            if missing := [name for name in REQUIRED if name not in names]:
                raise file.error(f"no column {missing[0]}; it has {', '.join(names)}")
            others = [name for name in names if name not in NAMES]
            notes += [f"{file.shown_name}: column {name} is not read" for name in others]
            shown = ", ".join(f'"{name}"' for name in NAMES if name in names)
            rows = con.sql(f"select {shown} from {reader}", params=values)
            yield from rows.to_arrow_reader(BATCH_ROWS)
        except duckdb.Error as error:
            raise file.unreadable(f"cannot be read: {first_line(error)}") from None


def _is_gzipped(file: SourceFile) -> bool:
    """Say whether a file is compressed, whatever its name."""
    with open(file.path, "rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def _plain(batch: pa.RecordBatch, name: str, column: Column) -> pa.Array:
    """Return a column of a batch; numbers that are written as text become numbers where all are."""
    if name not in batch.schema.names:
        return pa.nulls(len(batch), column.type)
    values = batch.column(name)
    if pa.types.is_string(values.type) and not pa.types.is_string(column.type):
        try:
            return values.cast(column.type)
        except pa.ArrowInvalid:
            return values  # The column's rule finds the row.
    return values


def _numbers(
    source: Source, chunk: Chunk, ids: Mapping[tuple[str, str], int], read: Mapping[str, Any]
) -> pa.Array:
    """Return the numbers of problems that go by names, and of those that go by numbers."""
    keys = zip(read["competition"].to_pylist(), read["question_id"].to_pylist(), strict=True)
    numbers = [ids.get(key, whole_number(key[1])) for key in keys]
    if None in numbers:
        at = numbers.index(None)
        name = read["question_id"][at].as_py()
        raise source.file.error(
            f"row {chunk.rows[at]}, column question_id: no attempt of this load is at {name!r}"
        )
    return pa.array(numbers, pa.int64())


def _leave_out(con: duckdb.DuckDBPyConnection, file: SourceFile) -> Iterator[str]:
    """Remove the checkpoints of attempts that --unlabelled drop or --failed drop left out."""
    ((count,),) = con.execute(
        "delete from incoming_checkpoints where completion_tokens is null"
    ).fetchall()
    if count:
        yield f"{file.shown_name}: {count:,} checkpoints of attempts that were left out"


def _refuse_faulty(con: duckdb.DuckDBPyConnection, files: list[SourceFile]) -> None:
    """Refuse the first checkpoint that breaks a rule, with its file, row and column."""
    for file, row, item, column, problem in con.execute(
        f"{render('faulty_checkpoints')} limit 1"
    ).fetchall():
        place = f"{column}:" if item is None else f"checkpoints: checkpoint {item}: {column}"
        name = "the select" if file is None else files[file].shown_name
        raise AuditError(f"{name}: row {row}, column {place} {problem}")


def _normalize_answers(con: duckdb.DuckDBPyConnection, *, numbers: bool) -> None:
    """Make `answer_forms`: every answer as written, with its normal form where it has one."""
    raw = con.sql("select distinct answer from incoming_checkpoints where answer is not null")
    written = raw.to_arrow_table()["answer"].combine_chunks().cast(pa.string())
    forms = normal_answers(written)
    table = pa.table({"raw_answer": written, "answer": number_forms(forms) if numbers else forms})
    insert(con, "create temp table answer_forms as", table)
