"""Parquet: whole columns where they are taken as they are, records where a row has to be seen."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit.ahead import prefetch
from audit.options import Reading
from audit.sources import containers
from audit.sources.canonical import COLUMNS, SCORE, is_numeric
from audit.sources.columns import Origin, columns_shown, find_origins
from audit.sources.files import Chunk, Row, Source, SourceFile, Unreadable, excerpt
from audit.sources.formats import Context, Format, Record, context_of, recognize
from audit.sources.formats.flat import ALL_WORDS, as_word
from audit.sources.paths import Items, Keys, find_keys
from audit.sources.readers import chunks as limits
from audit.sources.readers.chunks import empty, make_source, open_records
from audit.sources.readers.format_selects import open_format

# Column chunks are read in pieces of this size: a row group may be as large as the file.
PARQUET_BUFFER_BYTES = 4_000_000
# Rows are decoded a few at a time: a file of some kilobytes may say one long text for each of them.
BATCH_ROWS = 256
SMALL_BYTES = 1_000_000
# What a batch may come to, should every row hold the longest text that its group has.
LARGEST_BATCH = 128_000_000
PEEKED_ROWS = 16
PARQUET_ERRORS = (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError)


def open_parquet(file: SourceFile, format: Format | None, reading: Reading) -> Source:
    """Return a Parquet file, in a given format or else the one of its columns."""
    reader, schema = _opened(file)
    metadata = reader.metadata.metadata or {}
    shape = _fields(schema)
    format = recognize(file, shape) if format is None else format
    if format.select is not None:
        return open_format(file, format, reading, schema, shape)
    context = context_of(file, format, reading, "parquet")
    context.is_simulated = metadata.get(b"simulated", b"").lower() == b"true"
    origins = find_origins(context, [shape], lambda: _peek(context, reader))
    for column, origin in origins.items():
        for name in (*(origin.keys or ())[:1], *origin.looks_into):
            if schema.names.count(name) > 1:
                raise file.error(f"column {column}: {excerpt(name)} occurs twice")
    if reader.metadata.num_rows == 0:
        raise empty(file)
    has = columns_shown([shape])
    # A path that goes into a list has no column of its own.
    is_listed = any(_leaf(o.keys, shape) != o.keys for o in origins.values() if o.keys)
    # A row has to be seen whole where it holds several attempts or is changed.
    looks_around = any(f.look_up is not None and not f.looks_into for f in format.fields)
    if is_listed or format.attempts_at or format.prepare is not None or looks_around:
        rows = _parquet_rows(file, reader, _leaves(format, origins, schema))
        source = open_records(context, rows, has)
        return replace(source, records=lambda: parquet_records(file))
    chunks = _parquet_chunks(file, reader, format, origins)
    # Where the canonical column holds no numbers, its first values tell whether they are names.
    is_own = "question_id" in origins and origins["question_id"].where == "question_id"
    may_be_names = is_own and not is_numeric(schema.field("question_id").type)
    sample = _first_rows(file, reader, ["question_id"] if may_be_names else [])
    source = make_source(context, origins, chunks, has, sample)
    return replace(source, records=lambda: parquet_records(file))


def _opened(file: SourceFile) -> tuple[pq.ParquetFile, pa.Schema]:
    """Return an open Parquet file, and what its footer says of its columns."""
    try:
        # By its bytes: a file's name need not be UTF-8.
        stream = pa.OSFile(os.fsencode(file.path))
        reader = pq.ParquetFile(stream, buffer_size=PARQUET_BUFFER_BYTES, pre_buffer=False)
        return reader, reader.schema_arrow
    except PARQUET_ERRORS as error:
        raise _damaged(file, error) from None


def _fields(fields: Iterable[pa.Field]) -> Record:
    """Return a record with the fields of a schema and no values."""
    return {field.name: _shape(field.type) for field in fields}


def _shape(type: pa.DataType) -> Any:
    if pa.types.is_struct(type):
        return _fields(type)
    if _is_list(type):
        return Items([_shape(type.value_type)])
    return None


def _leaves(format: Format, origins: Mapping[str, Origin], schema: pa.Schema) -> list[str]:
    """The columns to read: those of the paths, down to the first list, and what is looked into."""
    shape = _fields(schema)
    lists = [find_keys(shape, path.split(".")) for path in format.attempts_at]
    lists += [origin.keys for origin in origins.values()]
    leaves = {".".join(_leaf(keys, shape)): None for keys in lists if keys}
    looked_into = [field.looks_into for field in format.fields if field.look_up is not None]
    looked_into += [origin.looks_into for origin in origins.values()]
    leaves |= dict.fromkeys(name for names in looked_into for name in names if name in schema.names)
    return list(leaves)


def _leaf(keys: Keys, shape: Any) -> Keys:
    """Return the keys of a path as far as the first list."""
    for at, key in enumerate(keys):
        if isinstance(shape, list):
            return keys[:at]
        shape = shape[key]
    return keys


def _peek(context: Context, reader: pq.ParquetFile) -> list[Record]:
    """Return the first rows of the columns that a format looks into, or may have to choose from."""
    schema, format = reader.schema_arrow, context.format
    paths = [name for field in format.fields for name in field.looks_into]
    paths += context.reading.mapping.values()
    if format.name == "flat":
        for field in format.fields:
            paths += (*field.paths, *field.if_values_fit, *field.if_one_row_per_problem)
    names = {path.split(".")[0] for path in paths}
    if format.name == "flat":
        names |= {c.name for c in schema if _is_list(c.type) or SCORE.fullmatch(c.name)}
        own = {name for name in schema.names if name in COLUMNS}
        names |= {name for name in schema.names if as_word(name) in ALL_WORDS} - own
    return _first_rows(context.file, reader, [name for name in schema.names if name in names])


def _first_rows(file: SourceFile, reader: pq.ParquetFile, names: list[str]) -> list[Record]:
    """Return the first rows of some columns, one at a time: any of them may be long."""
    rows: list[Record] = []
    size = 0
    try:
        for batch in reader.iter_batches(1, columns=names) if names else ():
            rows += batch.to_pylist()
            size += batch.nbytes
            if len(rows) >= PEEKED_ROWS or size > limits.SAMPLE_BYTES:
                break
    except PARQUET_ERRORS as error:
        raise _damaged(file, error) from None
    return rows


def parquet_records(file: SourceFile) -> Iterator[Record]:
    """Read the rows with all their columns, for who asks what they hold."""
    reader, schema = _opened(file)
    for batch, before, _ in _parquet_batches(file, reader, schema.names):
        yield from _records(file, batch, before)


def _is_list(type: pa.DataType) -> bool:
    return pa.types.is_list(type) or pa.types.is_large_list(type)


def _damaged(file: SourceFile, error: BaseException, after: str = "") -> Unreadable:
    what = "not a readable Parquet file, it may be cut off or damaged"
    return file.unreadable(f"{what}: {_reason(error)}{after}")


def _reason(error: BaseException) -> str:
    return excerpt((str(error) or type(error).__name__).splitlines()[0])


def _parquet_batches(
    file: SourceFile, reader: pq.ParquetFile, names: list[str]
) -> Iterator[tuple[pa.RecordBatch, int, int]]:
    """Yield batches of the named columns, with the rows before each and the bytes read so far."""
    total, row = reader.metadata.num_rows, 0
    try:
        decoded = _decoded(file, reader, names)
        # A thread for a small file costs more than it saves.
        for batch in decoded if file.bytes < SMALL_BYTES else prefetch(decoded):
            before, row = row, row + batch.num_rows
            _check_rows(file, batch, before)
            if batch.num_rows:
                yield batch, before, file.bytes * row // max(total, row)
    except PARQUET_ERRORS as error:
        raise _damaged(file, error, f" (after row {row})") from None
    if row != total:
        raise file.unreadable(f"holds {row:,} rows where its footer says {total:,}")


def _decoded(
    file: SourceFile, reader: pq.ParquetFile, names: list[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of every row group, none of which goes beyond its group."""
    # Who decodes closes: a thread may still be at it when nobody waits for its batch any more.
    try:
        for group in range(reader.num_row_groups):
            batch_rows = _batch_rows(file, reader.metadata.row_group(group))
            threaded = file.bytes >= SMALL_BYTES
            batches = reader.iter_batches(batch_rows, [group], names, use_threads=threaded)
            yield from _joined(map(_plain, batches))
    finally:
        reader.close(force=True)


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch without dictionaries: only then its size is what its rows come to."""
    columns = [
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for column in batch.columns
    ]
    # Where no column is read, a batch only counts rows.
    return pa.RecordBatch.from_arrays(columns, batch.schema.names) if columns else batch


def _joined(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches put together as far as a chunk goes."""
    pending: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        pending.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= limits.CHUNK_ROWS or size > limits.CHUNK_BYTES:
            yield from _one(pending)
            pending, rows, size = [], 0, 0
    yield from _one(pending)


def _one(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Return the batches as one; where no column is read, they only count rows and stay apart."""
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
    """Return the values of a column, as an array wherever they are taken as they are."""
    if origin.is_row:
        return list(range(before + 1, before + batch.num_rows + 1))
    if origin.keys is None:
        names = [name for name in batch.schema.names if name in origin.looks_into]
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
    """Return the rows of a batch; one that Python cannot hold is named."""
    try:
        return batch.to_pylist()
    except PARQUET_ERRORS:
        for at in range(batch.num_rows):
            try:
                batch.slice(at, 1).to_pylist()
            except PARQUET_ERRORS as error:
                what = f"row {before + at + 1}: not readable: {_reason(error)}"
                raise file.error(what) from None
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


def _batch_rows(file: SourceFile, group: pq.RowGroupMetaData) -> int:
    """Return how many rows of a row group are decoded at a time, going by their mean size."""
    # The group's own total, not its columns': pyarrow aborts on a damaged column's metadata.
    mean = limits.CHUNK_BYTES * group.num_rows // max(group.total_byte_size, 1)
    rows = max(1, min(BATCH_ROWS, mean))
    # One text of a dictionary may stand in every row. Where all of the group, decoded at its worst,
    # stays small, there is no need to look at the dictionaries.
    if group.total_byte_size * rows > LARGEST_BATCH:
        rows = max(1, min(rows, LARGEST_BATCH // max(_dictionary_bytes(file, group), 1)))
    return rows


def _dictionary_bytes(file: SourceFile, group: pq.RowGroupMetaData) -> int:
    """Return the size of the dictionaries of a row group, which no text of theirs can pass."""
    total = 0
    with open(file.path, "rb") as stream:
        for at in range(group.num_columns):
            column = group.column(at)
            if column.dictionary_page_offset is not None:
                stream.seek(max(column.dictionary_page_offset, 0))
                total += _page_bytes(stream.read(32), column.total_uncompressed_size)
    return total


def _page_bytes(header: bytes, otherwise: int) -> int:
    """The size that a page's header announces: its second number, in Thrift's compact spelling."""
    numbers: list[int] = []
    at = 0
    while len(numbers) < 2:
        # A field of the next number, a whole one of 32 bits.
        if header[at : at + 1] != b"\x15":
            return max(otherwise, 0)
        at, number, shift = at + 1, 0, 0
        while at < len(header):
            byte = header[at]
            number |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                break
        numbers.append((number >> 1) ^ -(number & 1))
    return max(numbers[1], 0)


def _check_rows(file: SourceFile, batch: pa.RecordBatch, before: int) -> None:
    """Refuse a row that is longer than a line may be."""
    longest = containers.LONGEST_LINE
    if batch.nbytes <= longest:
        return
    for at in range(batch.num_rows):
        if batch.slice(at, 1).nbytes > longest:
            what = f"is longer than {longest // 1_000_000} MB"
            raise file.unreadable(f"row {before + at + 1}: {what}")
