"""Readers of Parquet, JSONL and CSV: a file becomes chunks of raw values by canonical column."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from audit.errors import AuditError
from audit.sources import LONGEST_LINE, Chunk, Lines, Source, SourceFile, shown
from audit.sources.canonical import COLUMNS, pick_columns

# A chunk ends at whichever comes first.
CHUNK_ROWS = 4096
CHUNK_BYTES = 32_000_000
PARQUET_ERRORS = (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError)


def open_source(file: SourceFile, format: str, mapping: Mapping[str, str]) -> Source:
    """Open a file as one of FORMATS, and settle which of its columns is which."""
    openers = {"parquet": _open_parquet, "jsonl": _open_jsonl, "csv": _open_csv}
    return openers[format](file, mapping)


def _open_parquet(file: SourceFile, mapping: Mapping[str, str]) -> Source:
    try:
        # Column chunks are read in pieces: a row group may be as large as the file.
        reader = pq.ParquetFile(file.path, buffer_size=4_000_000)
        found, count = reader.schema_arrow.names, reader.metadata.num_rows
        metadata = reader.metadata.metadata or {}
    except PARQUET_ERRORS as error:
        raise AuditError(_damaged(file, error)) from None
    picked = pick_columns(file, found, mapping)
    if count == 0:
        raise AuditError(f"{file.label}: holds no rows; leave it out or write it again")
    simulated = metadata.get(b"simulated", b"").lower() == b"true"
    return Source(file, "parquet", picked, _parquet_chunks(file, reader, picked), simulated)


def _damaged(file: SourceFile, error: BaseException) -> str:
    reason = shown((str(error) or type(error).__name__).splitlines()[0])
    return f"{file.label}: not a readable Parquet file, it may be cut off or damaged: {reason}"


def _parquet_chunks(
    file: SourceFile, reader: pq.ParquetFile, picked: Mapping[str, str]
) -> Iterator[Chunk]:
    origins = list(dict.fromkeys(picked.values()))
    total, row = reader.metadata.num_rows, 0
    with reader:
        try:
            for group in range(reader.num_row_groups):
                for batch in reader.iter_batches(
                    _batch_rows(reader.metadata.row_group(group), origins), [group], origins
                ):
                    rows = range(row + 1, row + batch.num_rows + 1)
                    row += batch.num_rows
                    values = {name: batch.column(origin) for name, origin in picked.items()}
                    if batch.num_rows:
                        yield Chunk(values, rows, file.bytes * row // max(total, row))
        except PARQUET_ERRORS as error:
            raise AuditError(f"{_damaged(file, error)} (after row {row})") from None


def _batch_rows(group: pq.RowGroupMetaData, origins: Sequence[str]) -> int:
    """How many rows of a row group make a batch, going by their mean size."""
    columns = (group.column(index) for index in range(group.num_columns))
    size = sum(
        column.total_uncompressed_size
        for column in columns
        if column.path_in_schema in origins or column.path_in_schema.split(".")[0] in origins
    )
    return max(1, min(CHUNK_ROWS, CHUNK_BYTES * group.num_rows // max(size, 1)))


def _open_jsonl(file: SourceFile, mapping: Mapping[str, str]) -> Source:
    chunks = _jsonl_records(file)
    first = next(chunks, None)
    if first is None:
        raise AuditError(f"{file.label}: holds no rows; leave it out or write it again")
    found = list(dict.fromkeys(key for record in first[0] for key in record))
    picked = pick_columns(file, found, mapping)
    origins = {name: mapping.get(name, name) for name in COLUMNS}

    def columns() -> Iterator[Chunk]:
        for records, rows, done in chain([first], chunks):
            values = {
                name: [record.get(origin) for record in records] for name, origin in origins.items()
            }
            yield Chunk(values, rows, done)

    return Source(file, "jsonl", picked, columns())


def _jsonl_records(file: SourceFile) -> Iterator[tuple[list[dict[str, Any]], list[int], int]]:
    """The objects of a file, some at a time, with their line numbers and the bytes read so far."""
    lines = Lines(file)
    records: list[dict[str, Any]] = []
    rows: list[int] = []
    size = 0
    for line in lines:
        if not line.strip():
            continue
        records.append(_json_object(file, lines.number, line))
        rows.append(lines.number)
        if len(rows) == CHUNK_ROWS or lines.characters - size > CHUNK_BYTES:
            yield records, rows, lines.done
            records, rows, size = [], [], lines.characters
    if rows:
        yield records, rows, lines.done


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
    if repeated := _repeated(key for key, _ in pairs):
        raise ValueError(f"key {shown(repeated[0])} occurs twice")
    return dict(pairs)


def _repeated(names: Iterable[str]) -> list[str]:
    """The names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def _open_csv(file: SourceFile, mapping: Mapping[str, str]) -> Source:
    csv.field_size_limit(LONGEST_LINE)
    lines = Lines(file)
    records = csv.reader(lines, strict=True)
    header = _csv_record(file, records, 0)
    while header == []:
        header = _csv_record(file, records, 0)
    header = header or []
    if repeated := _repeated(header):
        raise AuditError(f"{file.label}: header: column {shown(repeated[0])} occurs twice")
    picked = pick_columns(file, header, mapping)
    return Source(file, "csv", picked, _csv_chunks(file, lines, records, header, picked))


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
    picked: Mapping[str, str],
) -> Iterator[Chunk]:
    places = {name: header.index(origin) for name, origin in picked.items()}
    row, size = 0, lines.characters
    batch: list[list[str]] = []

    def chunk() -> Chunk:
        # An empty cell is null.
        values = {name: [cells[at] or None for cells in batch] for name, at in places.items()}
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
