"""Readers of Parquet, JSON lines, CSV and logs: a file becomes chunks of raw values by column."""

import csv
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit.errors import AuditError
from audit.sources import (
    CONTAINERS,
    HEAD_BYTES,
    LONGEST_LINE,
    Chunk,
    Lines,
    Source,
    SourceFile,
    detect_container,
    find_files,
    first_bytes,
    shown,
)
from audit.sources.canonical import COLUMNS, problem_name
from audit.sources.formats import (
    REASONING,
    Choices,
    Context,
    Format,
    Origin,
    Record,
    as_references,
    columns_shown,
    find_origins,
    formats,
    positions,
    recognize,
)
from audit.sources.json_stream import first_members
from audit.sources.paths import Items, find_keys
from audit.sources.references import REFERENCES

# A chunk ends at whichever comes first.
CHUNK_ROWS = 4096
CHUNK_BYTES = 32_000_000
# Where the columns of a file are is decided by its first records.
SAMPLE_ROWS = 256
SAMPLE_BYTES = 4_000_000
# Column chunks are read in pieces of this size: a row group may be as large as the file.
PARQUET_BUFFER_BYTES = 4_000_000
# Rows are decoded a few at a time: a file of some kilobytes may say one long text for each of them.
BATCH_ROWS = 256
PARQUET_ERRORS = (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError)

JSON_ARRAY = re.compile(rb"\s*\[\s*\{")

# A record with its row, its size and the bytes of the file read so far.
Row = tuple[int, Record, int, int]


def open_source(file: SourceFile, name: str | None, choices: Choices) -> Source:
    """Open a file in the format of that name, or else of its content, and find its columns."""
    return _stand_in(_open(file, name, choices), choices)


def _open(file: SourceFile, name: str | None, choices: Choices) -> Source:
    container = name if name in CONTAINERS else detect_container(file)
    format = formats().get(name or "", formats()["flat"])
    if name is None and container == "jsonl":
        format = recognize(file, _first_record(file))
    if name is None and container == "zip":
        format = formats()["inspect"]
    if format.records is not None:
        context = _context(file, format)
        rows = format.records(file, context.header)
        return _open_records(format.name, format, rows, context, choices)
    if container == "parquet":
        return _open_parquet(file, None if name is None else format, choices)
    if container == "csv":
        if name is None and JSON_ARRAY.match(first_bytes(file, HEAD_BYTES)):
            raise AuditError(f"{file.label}: is a JSON array; write one object per line instead")
        return _open_csv(file, format, choices)
    if container == "zip":
        raise AuditError(f"{file.label}: is a zip archive, which only --format inspect reads")
    return _open_records("jsonl", format, _jsonl_rows(file), _context(file, format), choices)


def _first_record(file: SourceFile) -> Record:
    """The first object of a file, or as much of it as tells the format."""
    size = HEAD_BYTES
    while True:
        data = first_bytes(file, size)
        found, is_whole = first_members(data)
        if is_whole or len(data) < size or size > LONGEST_LINE or formats()["inspect"].knows(found):
            return found
        size *= 16


def _context(file: SourceFile, format: Format) -> Context:
    return Context(file, format.header(file) if format.header else {})


def _source(
    container: str,
    format: Format,
    context: Context,
    origins: Mapping[str, Origin],
    chunks: Iterator[Chunk],
    has: str,
    is_simulated: bool = False,
) -> Source:
    mapping = {column: origin.where for column, origin in origins.items() if column in COLUMNS}
    is_flat = format.name == "flat"
    is_canonical = all(column == where for column, where in mapping.items())
    return Source(
        context.file,
        container if is_flat else format.name,
        mapping,
        chunks,
        is_simulated,
        title="canonical columns" if is_flat and is_canonical else format.title,
        has=has,
        absent=format.absent,
        notes=context.notes,
    )


def _empty(file: SourceFile) -> AuditError:
    return AuditError(f"{file.label}: holds no rows; leave it out or write it again")


# Records: JSON lines, logs, and Parquet whose rows hold several attempts


def _open_records(
    container: str,
    format: Format,
    rows: Iterator[Row],
    context: Context,
    choices: Choices,
    is_simulated: bool = False,
    has: str = "",
) -> Source:
    adjusted = _adjusted(rows, format, context)
    first = _sample(adjusted)
    if not first:
        raise _empty(context.file)
    sample = [record for _, record, _, _ in first]
    origins = find_origins(format, sample, context, choices)
    chunks = _record_chunks(chain(first, adjusted), format, context, _with_later(origins, format))
    has = has or columns_shown(sample)
    return _source(container, format, context, origins, chunks, has, is_simulated)


def _adjusted(rows: Iterator[Row], format: Format, context: Context) -> Iterator[Row]:
    """The records that hold attempts, as they should be read."""
    for number, record, size, done in rows:
        context.row = number
        kept: Record | None = record
        if format.adjust is not None:
            try:
                kept = format.adjust(record, context)
            except ValueError as error:
                raise AuditError(f"{context.file.label}: row {number}: {error}") from None
        if kept is not None:
            yield number, kept, size, done


def _sample(rows: Iterator[Row]) -> list[Row]:
    """The first few records: what the file has is judged by them."""
    taken: list[Row] = []
    size = 0
    for row in rows:
        taken.append(row)
        size += row[2]
        if len(taken) >= min(SAMPLE_ROWS, CHUNK_ROWS) or size > SAMPLE_BYTES:
            break
    return taken


def _with_later(origins: Mapping[str, Origin], format: Format) -> dict[str, Origin]:
    """A flat file may have a canonical column that its first records have not."""
    later = {} if format.name != "flat" else {name: _later(name) for name in COLUMNS}
    return later | dict(origins)


def _later(name: str) -> Origin:
    return Origin(name, lambda record, position: record.get(name))


def _record_chunks(
    rows: Iterable[Row], format: Format, context: Context, origins: Mapping[str, Origin]
) -> Iterator[Chunk]:
    values: dict[str, list[Any]] = {name: [] for name in origins}
    takers = [(values[name], origin.get) for name, origin in origins.items()]
    numbers: list[int] = []
    length = done = 0
    for number, record, size, done in rows:
        context.row = number
        for position in positions(record, format):
            for taker, get in takers:
                taker.append(get(record, position))
            numbers.append(number)
        length += size
        if len(numbers) >= CHUNK_ROWS or length > CHUNK_BYTES:
            if numbers:
                yield Chunk(values, numbers, done)
            values = {name: [] for name in origins}
            takers = [(values[name], origin.get) for name, origin in origins.items()]
            numbers, length = [], 0
    if numbers:
        yield Chunk(values, numbers, done)


def _jsonl_rows(file: SourceFile) -> Iterator[Row]:
    """The objects of a file, with their line numbers."""
    lines = Lines(file)
    for line in lines:
        if line.strip():
            yield lines.number, _json_object(file, lines.number, line), len(line), lines.done


def _json_object(file: SourceFile, number: int, line: str) -> dict[str, Any]:
    place = f"{file.label}: line {number}"
    try:
        record = json.loads(line, object_pairs_hook=_unique_keys)
    except json.JSONDecodeError as error:
        problem = f"{error.msg} at character {error.pos + 1}"
        raise AuditError(f"{place}: not readable as one JSON object: {problem}") from None
    except RecursionError:
        raise AuditError(f"{place}: not readable as JSON: nested too deep") from None
    except ValueError as error:
        raise AuditError(f"{place}: not readable as JSON: {error}") from None
    if not isinstance(record, dict):
        raise AuditError(f"{place}: must be a JSON object, found {shown(record)}")
    return record


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        (repeated, *_) = _repeated(key for key, _ in pairs)
        raise ValueError(f"key {shown(repeated)} occurs twice")
    return found


def _repeated(names: Iterable[str]) -> list[str]:
    """The names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


# Parquet


def _open_parquet(file: SourceFile, format: Format | None, choices: Choices) -> Source:
    try:
        reader = pq.ParquetFile(file.path, buffer_size=PARQUET_BUFFER_BYTES, pre_buffer=False)
        schema, count = reader.schema_arrow, reader.metadata.num_rows
        metadata = reader.metadata.metadata or {}
    except PARQUET_ERRORS as error:
        raise AuditError(_damaged(file, error)) from None
    simulated = metadata.get(b"simulated", b"").lower() == b"true"
    shape = _fields(schema)
    format = recognize(file, shape) if format is None else format
    context = _context(file, format)
    origins = find_origins(format, [shape], context, choices, lambda: _peek(file, reader, format))
    for column, origin in origins.items():
        for name in (*(origin.keys or ())[:1], *origin.needs):
            if schema.names.count(name) > 1:
                raise AuditError(f"{file.label}: column {column}: {shown(name)} occurs twice")
    if count == 0:
        raise _empty(file)
    has = columns_shown([shape])
    if _has_rows_apart(format) or any(_is_listed(origin, shape) for origin in origins.values()):
        rows = _parquet_rows(file, reader, _leaves(format, origins, schema))
        return _open_records("parquet", format, rows, context, choices, simulated, has)
    chunks = _parquet_chunks(file, reader, format, origins)
    return _source("parquet", format, context, origins, chunks, has, simulated)


def _has_rows_apart(format: Format) -> bool:
    """Whether a row has to be seen whole to be read."""
    looks_around = any(one.find is not None and not one.needs for one in format.fields)
    return bool(format.each) or format.adjust is not None or looks_around


def _fields(fields: Iterable[pa.Field]) -> Record:
    """A record with the fields of a schema and no values."""
    return {field.name: _shape(field.type) for field in fields}


def _shape(type: pa.DataType) -> Any:
    if pa.types.is_struct(type):
        return _fields(type)
    if pa.types.is_list(type) or pa.types.is_large_list(type):
        return Items([_shape(type.value_type)])
    return None


def _is_listed(origin: Origin, shape: Record) -> bool:
    """Whether a path goes into a list, where there is no column of its own."""
    value: Any = shape
    for key in origin.keys or ():
        if isinstance(value, list):
            return True
        value = value[key]
    return False


def _leaves(format: Format, origins: Mapping[str, Origin], schema: pa.Schema) -> list[str]:
    """The columns to read: those of the paths, down to the first list, and what is looked into."""
    shape = _fields(schema)
    found: dict[str, None] = {}
    for path in format.each:
        if keys := find_keys(shape, path.split(".")):
            found[_leaf(keys, shape)] = None
    for one in format.fields:
        if one.find is not None:
            found |= dict.fromkeys(name for name in one.needs if name in schema.names)
    for origin in origins.values():
        if origin.keys:
            found[_leaf(origin.keys, shape)] = None
    return list(found)


def _leaf(keys: Sequence[str], shape: Any) -> str:
    parts: list[str] = []
    for key in keys:
        if isinstance(shape, list):
            break
        parts.append(key)
        shape = shape[key]
    return ".".join(parts)


def _peek(file: SourceFile, reader: pq.ParquetFile, format: Format) -> list[Record]:
    """The first rows of the columns that a format looks into."""
    wanted = [name for one in format.fields for name in one.needs]
    names = [name for name in reader.schema_arrow.names if name in wanted]
    try:
        batch = next(reader.iter_batches(SAMPLE_ROWS, columns=names), None) if names else None
        return batch.to_pylist() if batch is not None else []
    except PARQUET_ERRORS as error:
        raise AuditError(_damaged(file, error)) from None


def _damaged(file: SourceFile, error: BaseException) -> str:
    place = f"{file.label}: not a readable Parquet file"
    return f"{place}, it may be cut off or damaged: {_reason(error)}"


def _reason(error: BaseException) -> str:
    return shown((str(error) or type(error).__name__).splitlines()[0])


def _parquet_batches(
    file: SourceFile, reader: pq.ParquetFile, names: list[str]
) -> Iterator[tuple[pa.RecordBatch, int, int]]:
    """Batches of the named columns, with the rows before each and the bytes read so far."""
    total, row = reader.metadata.num_rows, 0
    with reader:
        try:
            for group in range(reader.num_row_groups):
                batch_rows = _batch_rows(reader.metadata.row_group(group))
                batches = reader.iter_batches(batch_rows, [group], names)
                for batch in _ahead(_joined(batches)):
                    before, row = row, row + batch.num_rows
                    if batch.num_rows:
                        yield batch, before, file.bytes * row // max(total, row)
        except PARQUET_ERRORS as error:
            raise AuditError(f"{_damaged(file, error)} (after row {row})") from None


def _ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches, each decoded while the one before it is in use."""
    with ThreadPoolExecutor(1) as decoder:
        decoding = decoder.submit(next, batches, None)
        while (batch := decoding.result()) is not None:
            decoding = decoder.submit(next, batches, None)
            yield batch


def _joined(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches put together as far as a chunk goes."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        held.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= CHUNK_ROWS or size > CHUNK_BYTES:
            yield from _one(held)
            held, rows, size = [], 0, 0
    yield from _one(held)


def _one(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """The batches as one; where no column is read, they only count rows and stay apart."""
    if len(batches) < 2 or not batches[0].num_columns:
        return batches
    return pa.Table.from_batches(batches).combine_chunks().to_batches()


def _parquet_chunks(
    file: SourceFile, reader: pq.ParquetFile, format: Format, origins: Mapping[str, Origin]
) -> Iterator[Chunk]:
    names = _leaves(format, origins, reader.schema_arrow)
    for batch, before, done in _parquet_batches(file, reader, names):
        rows = range(before + 1, before + batch.num_rows + 1)
        values = {name: _column(file, batch, before, origin) for name, origin in origins.items()}
        yield Chunk(values, rows, done)


def _column(file: SourceFile, batch: pa.RecordBatch, before: int, origin: Origin) -> Any:
    """The values of a column, as an array wherever they are taken as they are."""
    if origin.keys is None:
        names = [name for name in batch.schema.names if name in origin.needs]
        records = _records(file, batch.select(names), before) if names else [{}] * batch.num_rows
        return [origin.get(record, 0) for record in records]
    array = batch.column(origin.keys[0])
    for key in origin.keys[1:]:
        array = pc.struct_field(array, key)
    return array if origin.read is None else [origin.read(value) for value in python_values(array)]


def _parquet_rows(file: SourceFile, reader: pq.ParquetFile, names: list[str]) -> Iterator[Row]:
    for batch, before, done in _parquet_batches(file, reader, names):
        size = batch.nbytes // batch.num_rows
        for number, record in enumerate(_records(file, batch, before), before + 1):
            yield number, record, size, done


def _records(file: SourceFile, batch: pa.RecordBatch, before: int) -> list[Record]:
    """The rows of a batch; one that Python cannot hold is named."""
    try:
        return batch.to_pylist()
    except PARQUET_ERRORS:
        for at in range(batch.num_rows):
            try:
                batch.slice(at, 1).to_pylist()
            except PARQUET_ERRORS as error:
                place = f"{file.label}: row {before + at + 1}"
                raise AuditError(f"{place}: not readable: {_reason(error)}") from None
        raise


def python_values(array: pa.Array) -> list[Any]:
    """The values of an array; one that Python cannot hold stays as it is, for a rule to refuse."""

    def python_value(scalar: pa.Scalar) -> Any:
        try:
            return scalar.as_py()
        except PARQUET_ERRORS:
            return scalar

    try:
        return array.to_pylist()
    except PARQUET_ERRORS:
        return [python_value(scalar) for scalar in array]


def _batch_rows(group: pq.RowGroupMetaData) -> int:
    """How many rows of a row group are decoded at a time, going by their mean size."""
    # The group's own total, not its columns': pyarrow aborts on a damaged column's metadata.
    return max(1, min(BATCH_ROWS, CHUNK_BYTES * group.num_rows // max(group.total_byte_size, 1)))


# CSV


def _open_csv(file: SourceFile, format: Format, choices: Choices) -> Source:
    csv.field_size_limit(LONGEST_LINE)
    lines = Lines(file)
    records = csv.reader(lines, strict=True)
    header = _csv_record(file, records, 0)
    while header == []:
        header = _csv_record(file, records, 0)
    header = header or []
    if repeated := _repeated(header):
        raise AuditError(f"{file.label}: header: column {shown(repeated[0])} occurs twice")
    context = _context(file, format)
    shape = dict.fromkeys(header)
    origins = find_origins(format, [shape], context, choices)
    chunks = _csv_chunks(file, lines, records, header, origins)
    return _source("csv", format, context, origins, chunks, columns_shown([shape]))


def _csv_record(file: SourceFile, records: Iterator[list[str]], row: int) -> list[str] | None:
    try:
        return next(records, None)
    except csv.Error as error:
        place = f"row {row}" if row else "header"
        raise AuditError(f"{file.label}: {place}: not readable as CSV: {error}") from None


def _csv_chunks(
    file: SourceFile,
    lines: Lines,
    records: Iterator[list[str]],
    header: list[str],
    origins: Mapping[str, Origin],
) -> Iterator[Chunk]:
    row, size = 0, lines.characters
    batch: list[list[str]] = []

    def chunk() -> Chunk:
        values = {name: _cells(batch, header, origin) for name, origin in origins.items()}
        return Chunk(values, range(row - len(batch) + 1, row + 1), lines.done)

    while (cells := _csv_record(file, records, row + 1)) is not None:
        if not cells:
            continue
        row += 1
        if len(cells) != len(header):
            raise AuditError(
                f"{file.label}: row {row}: has {len(cells)} cells, but the header has {len(header)}"
            )
        batch.append(cells)
        if len(batch) == CHUNK_ROWS or lines.characters - size > CHUNK_BYTES:
            yield chunk()
            batch, size = [], lines.characters
    if batch:
        yield chunk()
    if row == 0:
        raise AuditError(f"{file.label}: holds no rows; leave it out or write it again")


def _cells(batch: list[list[str]], header: list[str], origin: Origin) -> list[Any]:
    """The cells of a column; an empty one is null."""
    if origin.keys is None:
        return [origin.get({}, 0)] * len(batch)
    at = header.index(origin.keys[0])
    cells = [row[at] or None for row in batch]
    # A cell with several references is a list only once it is parsed.
    read = None if origin.read is as_references else origin.read
    return cells if read is None else [read(cell) for cell in cells]


# What stands in for a column that a file has not


def _stand_in(source: Source, choices: Choices) -> Source:
    """Fill what the user has settled: a finish reason, token counts, references, labels to come."""
    filled: dict[str, Callable[[Chunk], Sequence[Any]]] = {}
    mapping = dict(source.mapping)
    if choices.finish_reason is not None and "finish_reason" not in mapping:
        mapping["finish_reason"] = "--finish-reason"
        filled["finish_reason"] = lambda chunk: [choices.finish_reason] * len(chunk.rows)
    is_countable = "text" in mapping and "completion_tokens" not in mapping
    if choices.count_tokens is not None and is_countable:
        count = token_counter(choices.count_tokens)
        mapping["completion_tokens"] = f"counted with {choices.count_tokens}"
        filled["completion_tokens"] = lambda chunk: _counts(chunk, count)
    if choices.references is not None:
        accepted = read_references(choices.references)
        mapping["references"] = f"--references {os.path.basename(choices.references)}"
        filled["references"] = lambda chunk: _accepted(chunk, accepted)
    if choices.grade is not None and "references" in mapping:
        mapping["correct"] = "references"
    chunks = (_filled(chunk, filled) for chunk in source.chunks) if filled else source.chunks
    return replace(source, mapping=mapping, chunks=chunks)


def _filled(chunk: Chunk, filled: Mapping[str, Callable[[Chunk], Sequence[Any]]]) -> Chunk:
    values = {name: fill(chunk) for name, fill in filled.items()}
    return Chunk({**chunk.values, **values}, chunk.rows, chunk.done)


def listed(chunk: Chunk, name: str) -> list[Any]:
    """The raw values of a column, one for each row."""
    values = chunk.values.get(name)
    if values is None:
        return [None] * len(chunk.rows)
    return python_values(values) if isinstance(values, pa.Array) else list(values)


def _counts(chunk: Chunk, count: Callable[[str], int | None]) -> list[int | None]:
    """The tokens of each text, with the reasoning that was paid for before it."""
    pairs = zip(listed(chunk, REASONING), listed(chunk, "text"), strict=True)
    return [
        sum(count(part) or 0 for part in pair if isinstance(part, str)) or None for pair in pairs
    ]


def token_counter(encoding: str) -> Callable[[str], int | None]:
    """What counts the tokens of a text; a text that the tokenizer gives up on has no count."""
    from audit import tokens

    try:
        encode = tokens.find_encoding(encoding).encode
    except AuditError as error:
        raise AuditError(str(error).replace("--tokenizer", "--count-tokens")) from None

    def count(text: str) -> int | None:
        try:
            return encode(text)[0]
        except BaseException as error:
            # Not an Exception, so that nobody catches it: how tiktoken ends at a million spaces.
            if type(error).__name__ != "PanicException":
                raise
            return None

    return count


def read_references(path: str) -> dict[tuple[Any, str], list[str]]:
    """The accepted references of a file, by competition (None: any) and the problem's name."""
    if os.path.isdir(path):
        raise AuditError(f"--references {path}: is a folder; name one file")
    (file,) = find_files([path])
    return _read_references(file, os.stat(file.path).st_mtime_ns)


@lru_cache(maxsize=1)
def _read_references(file: SourceFile, changed: int) -> dict[tuple[Any, str], list[str]]:
    path = file.name
    container = detect_container(file)
    openers: dict[str, Callable[[], Source]] = {
        "csv": lambda: _open_csv(file, REFERENCES, Choices()),
        "parquet": lambda: _open_parquet(file, REFERENCES, Choices()),
        "jsonl": lambda: _open_records(
            "jsonl", REFERENCES, _jsonl_rows(file), Context(file), Choices()
        ),
    }
    if container not in openers:
        raise AuditError(f"--references {path}: must be JSON lines, CSV or Parquet")
    source = openers[container]()
    missing = {"question_id", "references"} - source.mapping.keys()
    if missing:
        raise AuditError(f"--references {path}: no column for {min(missing)}; {source.has}")
    found: dict[tuple[Any, str], list[str]] = {}
    for chunk in source.chunks:
        columns = (listed(chunk, name) for name in ("competition", "question_id", "references"))
        for row, competition, problem, forms in zip(chunk.rows, *columns, strict=True):
            try:
                name = problem_name(problem)
            except ValueError as error:
                place = f"--references {path}: row {row}, column question_id"
                raise AuditError(f"{place}: {error}") from None
            found.setdefault((competition, name), []).extend(as_references(forms) or [])
    return found


def _accepted(chunk: Chunk, accepted: Mapping[tuple[Any, str], list[str]]) -> list[Any]:
    pairs = zip(listed(chunk, "competition"), listed(chunk, "question_id"), strict=True)
    found = []
    for competition, problem in pairs:
        try:
            name = problem_name(problem)
        except ValueError:
            name = ""  # The column's own rule says what is wrong.
        found.append(accepted.get((competition, name), accepted.get((None, name))))
    return found
