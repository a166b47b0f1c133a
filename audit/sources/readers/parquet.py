"""Read Parquet by columns, or by records where a row holds several attempts."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from audit.ahead import prefetch
from audit.options import Reading
from audit.sources.columns import Origin, find_origins, list_columns
from audit.sources.files import Chunk, Row, Source, SourceFile, excerpt
from audit.sources.formats import Context, Format, Record, recognize
from audit.sources.paths import Keys
from audit.sources.readers import chunks as limits
from audit.sources.readers.chunks import make_empty_error, make_source, open_records
from audit.sources.readers.format_selects import open_format

# Column chunks are read in pieces of this size: a row group may be as large as the file.
PARQUET_BUFFER_BYTES = 4_000_000
PEEKED_ROWS = 16
# Below this a thread that decodes ahead costs more than it saves.
SMALL_BYTES = 1_000_000
PARQUET_ERRORS = (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError)


def open_parquet(file: SourceFile, format: Format | None, reading: Reading) -> Source:
    """Open a Parquet file in a given format, or else in the format of its columns."""
    with _explain_damage(file):
        # By its bytes: a file's name need not be UTF-8.
        stream = pa.OSFile(os.fsencode(file.path))
        reader = pq.ParquetFile(stream, buffer_size=PARQUET_BUFFER_BYTES, pre_buffer=False)
        schema = reader.schema_arrow
        sample = _read_first_records(reader)
    if not sample:
        raise make_empty_error(file)
    format = recognize(file, sample[0]) if format is None else format
    if format.select is not None:
        return open_format(file, format, reading, schema, sample[0])
    context = Context(file, format, reading, "parquet")
    metadata = schema.metadata or {}
    context.is_simulated = metadata.get(b"simulated", b"").lower() == b"true"
    origins = find_origins(context, sample)
    looked_into = {name for origin in origins.values() for name in origin.looks_into}
    names = looked_into | {origin.keys[0] for origin in origins.values() if origin.keys}
    if again := next((n for n in schema.names if n in names and schema.names.count(n) > 1), None):
        raise file.error(f"column {excerpt(again)} occurs twice")
    leaves = {".".join(_find_leaf(o.keys, schema)) for o in origins.values() if o.keys}
    paths = [*looked_into, *leaves]
    # Rows with several attempts are read whole.
    if any(_find_leaf(o.keys, schema) != o.keys for o in origins.values() if o.keys):
        source = open_records(context, _read_rows(file, reader, paths), list_columns(sample))
    else:
        chunks = _read_chunks(file, reader, paths, origins)
        source = make_source(context, origins, chunks, list_columns(sample), sample)
    return replace(source, records=lambda: (row[1] for row in read_parquet_rows(file)))


@contextmanager
def _explain_damage(file: SourceFile) -> Iterator[None]:
    """Turn the errors of Arrow on a damaged file into one line."""
    try:
        yield
    except PARQUET_ERRORS as error:
        reason = excerpt((str(error) or type(error).__name__).splitlines()[0])
        raise file.unreadable(f"not a readable Parquet file: {reason}") from None


def _find_leaf(keys: Keys, schema: pa.Schema) -> Keys:
    """Return the keys of a path up to the first value that is no struct."""
    type: Any = schema
    for at, key in enumerate(keys):
        if not isinstance(type, pa.Schema) and not pa.types.is_struct(type):
            return keys[:at]
        type = type.field(key).type
    return keys


def _read_first_records(reader: pq.ParquetFile) -> list[Record]:
    """Read the first rows one at a time, as any of them may be long."""
    rows: list[Record] = []
    size = 0
    for batch in reader.iter_batches(1, use_threads=False):
        rows += _make_records(batch)
        size += batch.nbytes
        if len(rows) >= PEEKED_ROWS or size > limits.SAMPLE_BYTES:
            break
    return rows


def read_parquet_rows(file: SourceFile) -> Iterator[Row]:
    """Yield the rows of a file with all their columns."""
    with _explain_damage(file), pq.ParquetFile(pa.OSFile(os.fsencode(file.path))) as reader:
        yield from _read_rows(file, reader, None)


def _read_batches(
    file: SourceFile, reader: pq.ParquetFile, names: list[str] | None
) -> Iterator[tuple[pa.RecordBatch, int, int]]:
    """Yield batches of the named columns, with the rows before each and the bytes read so far."""
    total, row = reader.metadata.num_rows, 0
    size = sum(reader.metadata.row_group(at).total_byte_size for at in range(reader.num_row_groups))
    # Long rows are decoded a few at a time.
    rows = max(min(limits.CHUNK_ROWS, limits.CHUNK_BYTES * total // max(size, 1)), 1)
    with _explain_damage(file):
        try:
            batches = reader.iter_batches(rows, columns=names)
            for batch in batches if file.bytes < SMALL_BYTES else prefetch(batches):
                before, row = row, row + batch.num_rows
                yield batch, before, file.bytes * row // total
        finally:
            reader.close(force=True)


def _read_chunks(
    file: SourceFile, reader: pq.ParquetFile, names: list[str], origins: Mapping[str, Origin]
) -> Iterator[Chunk]:
    """Yield chunks of columns, as Arrow arrays where no value is converted."""
    for batch, before, done in _read_batches(file, reader, names):
        rows = range(before + 1, before + batch.num_rows + 1)
        yield Chunk({name: _read_column(batch, rows, o) for name, o in origins.items()}, rows, done)


def _read_column(batch: pa.RecordBatch, rows: range, origin: Origin) -> Any:
    if origin.is_row:
        return list(rows)
    if origin.keys is None:
        names = [name for name in batch.schema.names if name in origin.looks_into]
        records = _make_records(batch.select(names)) if names else [{}] * len(rows)
        return [origin.get(record, 0) for record in records]
    array = batch.column(origin.keys[0])
    for key in origin.keys[1:]:
        array = pc.struct_field(array, key)
    return array if origin.read is None else [origin.read(value) for value in convert_values(array)]


def _read_rows(file: SourceFile, reader: pq.ParquetFile, names: list[str] | None) -> Iterator[Row]:
    for batch, before, done in _read_batches(file, reader, names):
        size = batch.nbytes // batch.num_rows
        for number, record in enumerate(_make_records(batch), before + 1):
            yield number, record, size, done


def _make_records(batch: pa.RecordBatch) -> list[Record]:
    values = (convert_values(column) for column in batch.columns)
    return [dict(zip(batch.schema.names, row, strict=True)) for row in zip(*values, strict=True)]


def convert_values(array: pa.Array) -> list[Any]:
    """Convert an array to Python values; keep a scalar that Python cannot represent."""

    def python_value(scalar: pa.Scalar) -> Any:
        try:
            return scalar.as_py()
        except PARQUET_ERRORS:
            return scalar

    try:
        return array.to_pylist()
    except PARQUET_ERRORS:
        return [python_value(scalar) for scalar in array]
