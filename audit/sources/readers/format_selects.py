"""Read a file by the select of its format: JSON records in, chunks of attempts out."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from fnmatch import fnmatch
from functools import cache
from itertools import chain, compress, islice
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit.errors import AuditError
from audit.options import Reading
from audit.sources.canonical import COLUMNS
from audit.sources.columns import RECORDS_SHOWN, Origin, find_origins, list_columns
from audit.sources.containers import sniff
from audit.sources.files import Chunk, Source, SourceFile, excerpt
from audit.sources.formats import FOLDER, Context, Format, Record
from audit.sources.json_stream import JsonStream, read_small_document, stream_records
from audit.sources.readers import chunks as limits
from audit.sources.readers.chunks import make_empty_error
from audit.sources.readers.documents import read_json_rows
from audit.sources.readers.lines import read_lines
from audit.sources.readers.selected import BATCH_ROWS, decode
from audit.sources.views import Argument, connect_offline, open_views, shorten_error
from audit.text import literal, quoted

# A format's select reads a file at a time.
THREADS = 2
# Records are handed to DuckDB in batches of this size.
BATCH_BYTES = 4_000_000
DAMAGED = "not readable as JSON"
# Columns of a select that describe a row: the number of its record in the file, the position of
# the attempt in the record, the record itself for --map, a note to count, and why the row is
# left out or refused.
FACTS = ("number", "position", "record", "note", "left_out", "wrong")
# A JSON path in a select, up to its first list index.
NAMED_PATH = re.compile(r"'\$((?:\.\w+)+)")
SCHEMA = pa.schema([("number", pa.int64()), ("json", pa.string())])


def open_format(
    file: SourceFile,
    format: Format,
    reading: Reading,
    schema: pa.Schema | None = None,
    shape: Record | None = None,
) -> Source:
    """Open a file with the select of its format; a column is present if the first rows have it.

    For Parquet, `schema` is the schema of the file and `shape` its first record.
    """
    if reading.explode:
        raise file.error(f"--explode: the format {format.name} says itself where attempts are")
    assert format.select is not None
    context = Context(file, format, reading, sniff(file).container)
    # Only --map needs the records in the result of the select.
    is_whole = bool(reading.mapping)
    text = format.select if is_whole else f"select * exclude (record) from ({format.select}\n)"
    stack = ExitStack()
    try:
        feed = Feed(file, shape)
        con = stack.enter_context(_open_records(feed, format, schema, is_whole=is_whole))
        _add_beside(con, file, format.beside)
        origins = find_origins(context, feed.sample)
        present = {name: origin.where for name, origin in origins.items()}
        chunks = _read_chunks(stack, feed, con, text, context, origins, present)
        first = next(chunks, None)
        if first is None:
            raise make_empty_error(file, context.notes)
    except BaseException:
        stack.close()
        raise
    return Source(
        file,
        format.name,
        {name: present[name] for name in (*COLUMNS, *present) if name in present},
        chain([first], chunks),
        title=format.title,
        has=list_columns(feed.sample),
        absent=format.absent,
        notes=context.notes,
        has_problem_names=True,
        sample=feed.sample,
    )


def _read_chunks(
    stack: ExitStack,
    feed: "Feed",
    con: duckdb.DuckDBPyConnection,
    text: str,
    context: Context,
    origins: Mapping[str, Origin],
    present: dict[str, str],
) -> Iterator[Chunk]:
    """Yield the rows of a select that hold attempts, with the columns that options map.

    A column is present, and yielded, if a row of the first batch has it, even as a JSON null.
    """
    where = f"sql/formats/{context.format.name}.sql"
    is_first = True
    with stack:
        for rows, types in _read_batches(feed, con, text):
            columns = dict(zip(types, zip(*rows, strict=True), strict=True))
            if is_first:
                found = [n for n, column in columns.items() if any(v is not None for v in column)]
                present |= {n: where for n in found if n not in (*FACTS, *origins)}
                is_first = False
            values = {name: decode(name, types[name], column) for name, column in columns.items()}
            facts = {name: values.pop(name) for name in FACTS if name in values}
            numbers = facts["number"]
            context.notes.update(note for note in facts.get("note", ()) if note)
            for number, wrong in zip(numbers, facts.get("wrong", ()), strict=False):
                if wrong:
                    raise context.file.error(f"row {number}: {wrong}")
            values |= _map_columns(origins, facts)
            left_out = facts.get("left_out") or [None] * len(numbers)
            context.notes.update(reason for reason in left_out if reason)
            kept = [not reason for reason in left_out]
            if any(kept):
                taken = {name: list(compress(values[name], kept)) for name in present}
                yield Chunk(taken, list(compress(numbers, kept)), feed.done)


def _read_batches(
    feed: "Feed", con: duckdb.DuckDBPyConnection, text: str
) -> Iterator[tuple[list[tuple[Any, ...]], dict[str, str]]]:
    """Yield the rows of a select in batches of a chunk, each with the types of the columns."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    try:
        con.execute(text)
        types = {name: str(type) for name, type, *_ in con.description or ()}
        while batch := con.fetchmany(BATCH_ROWS):
            rows += batch
            size += sum(len(value) for row in batch for value in row if isinstance(value, str))
            if len(rows) >= limits.CHUNK_ROWS or size > limits.CHUNK_BYTES:
                yield rows, types
                rows, size = [], 0
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise feed.explain(error) from None
    if rows:
        yield rows, types


def _map_columns(origins: Mapping[str, Origin], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the columns that options map, one for each row."""
    numbers = facts["number"]
    records = facts.get("record", [{}] * len(numbers))
    places = list(zip(records, facts.get("position", [0] * len(numbers)), strict=False))
    return {
        name: list(numbers) if origin.is_row else [origin.get(*place) for place in places]
        for name, origin in origins.items()
    }


class Feed:
    """The records of a file as JSON for DuckDB, the progress, and the error of reading."""

    def __init__(self, file: SourceFile, shape: Record | None) -> None:
        self.file = file
        self.done = file.bytes
        self._failure: Exception | None = None
        self._texts: Iterator[tuple[int, str]] = iter(())
        self.sample: list[Record] = [] if shape is None else [shape]
        if shape is None:
            texts = self._read()
            first = list(islice(texts, RECORDS_SHOWN))
            self.sample = [self._decode(*row) for row in first]
            self._texts = chain(first, texts)

    def _read(self) -> Iterator[tuple[int, str]]:
        """Yield the number and JSON of each record; lines are passed on undecoded."""
        most = self.file.sample or self.file.bytes
        if _is_lines(self.file):
            for number, line, done in read_lines(self.file):
                if not line.lstrip().startswith("{"):
                    what = f"must be a JSON object, found {excerpt(line.strip())}"
                    raise self.file.unreadable(f"line {number}: {what}")
                self.done = done
                yield number, line
                if done > most:
                    return
        else:
            for number, record, _, done in stream_records(self.file, JsonStream.records, DAMAGED):
                self.done = done
                yield number, json.dumps(record)
                if done > most:
                    return

    def _decode(self, number: int, text: str) -> Record:
        try:
            record: Record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.file.unreadable(f"line {number}: {DAMAGED}: {error}") from None
        return record

    def reader(self) -> pa.RecordBatchReader:
        """Return the records as an Arrow stream, which can be read once."""
        return pa.RecordBatchReader.from_batches(SCHEMA, self._make_batches())

    def _make_batches(self) -> Iterator[pa.RecordBatch]:
        rows: list[tuple[int, str]] = []
        size = 0
        try:
            for row in self._texts:
                rows.append(row)
                size += len(row[1])
                if size > BATCH_BYTES or len(rows) >= limits.CHUNK_ROWS:
                    yield _make_batch(rows)
                    rows, size = [], 0
            yield _make_batch(rows)
        except Exception as error:
            self._failure = error
            raise

    def explain(self, error: Exception) -> Exception:
        """Return the error of the file behind an error of DuckDB."""
        if self._failure is None and "Malformed JSON" in str(error):
            try:
                for _ in read_json_rows(self.file):
                    pass
            except AuditError as found:
                return found
            return self.file.unreadable(f"{DAMAGED}: it holds text that is not valid Unicode")
        return self._failure or self.file.error(shorten_error(error))


def _make_batch(rows: list[tuple[int, str]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else ((), ())
    arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _is_lines(file: SourceFile) -> bool:
    """Tell whether the first line of a JSON file is a whole record."""
    if sniff(file).container == "json":
        return False
    _, line, _ = next(read_lines(file), (0, "", 0))
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


@cache
def _open_sandbox() -> duckdb.DuckDBPyConnection:
    """Return the connection without outside access that reads the files of all formats."""
    con = connect_offline(THREADS)
    con.execute(_read_macros())
    return con


@cache
def _read_macros() -> str:
    return FOLDER.with_name("macros").joinpath("formats.sql").read_text(encoding="utf-8")


@contextmanager
def _open_records(
    feed: Feed, format: Format, schema: pa.Schema | None, *, is_whole: bool
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a connection with the view `records`: the JSON of each record, its number, its file.

    Of Parquet, only fields that the select names are read, unless `is_whole`.
    """
    if schema is None:
        with _open_sandbox().cursor() as con:
            con.register("source", feed.reader())
            texts = {name: f"record ->> '$.{name}'" for name in format.apart}
            _add_records(con, feed.file, "json::json as record, number", texts)
            yield con
        return
    with open_views([Argument([feed.file])], {"threads": THREADS}) as con:
        con.execute(_read_macros())
        paths = [
            path[1:].split(".") for path in NAMED_PATH.findall(f"{format.select}{_read_macros()}")
        ]
        record = "source" if is_whole else _select_fields("source", pa.struct(list(schema)), paths)
        texts = {name: quoted(name) if name in schema.names else "null" for name in format.apart}
        _add_records(
            con, feed.file, f"to_json({record}) as record, row_number() over () as number", texts
        )
        yield con


def _select_fields(place: str, type: pa.DataType, paths: Sequence[Sequence[str]]) -> str:
    """Return the SQL of a value; of a struct, keep only the fields on these paths."""
    if not pa.types.is_struct(type) or [] in paths:
        return place
    fields = []
    for field in type:
        if inner := [path[1:] for path in paths if path[0] == field.name]:
            name = quoted(field.name)
            fields.append(f"{name}: {_select_fields(f'{place}.{name}', field.type, inner)}")
    return "{" + ", ".join(fields) + "}" if fields else "null"


def _add_records(
    con: duckdb.DuckDBPyConnection, file: SourceFile, columns: str, texts: Mapping[str, str]
) -> None:
    path = literal(os.path.abspath(file.path))
    apart = "".join(f", {place} as {quoted(name)}" for name, place in texts.items())
    con.execute(f"create temp view file as select {path} as filename")
    con.execute(
        f"create temp view records as select {columns}, {path} as filename{apart} from source"
    )


def _add_beside(con: duckdb.DuckDBPyConnection, file: SourceFile, wanted: str | None) -> None:
    """Add the table `beside`: a row with the JSON of each document, NAME=PATH, beside a file.

    A path with `*` gives an object of all that match, by name: documents, and null for folders.
    """
    if wanted is None:
        return
    folder = Path(os.path.abspath(file.path)).parent
    documents = {}
    for pair in wanted.split("; "):
        name, path = pair.split("=")
        documents[name] = (
            _read_matching(folder, path) if "*" in path else read_small_document(folder / path)
        )
    columns = ", ".join(f"?::json as {name}" for name in documents)
    values = [json.dumps(found) for found in documents.values()]
    con.execute(f"create temp table beside as select {columns}", values)


def _read_matching(folder: Path, pattern: str) -> dict[str, Any]:
    """Return the documents that a pattern matches, by name; folders where it ends with a slash."""
    place, name = os.path.split(pattern.rstrip("/"))
    with suppress(OSError), os.scandir(folder / place) as entries:
        are_folders = pattern.endswith("/")
        found = [e for e in entries if fnmatch(e.name, name) and e.is_dir() == are_folders]
        return {e.name: None if are_folders else read_small_document(Path(e.path)) for e in found}
    return {}
