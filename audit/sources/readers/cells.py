"""CSV: cells by the names of the header; an empty cell is null."""

import csv
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from audit.options import Reading
from audit.sources import containers
from audit.sources.columns import Origin, columns_shown, find_origins
from audit.sources.containers import Lines, sniff
from audit.sources.files import Chunk, Source, SourceFile, Unreadable, excerpt
from audit.sources.formats import Context, Format, as_references
from audit.sources.readers import chunks as limits
from audit.sources.readers.chunks import empty, make_source
from audit.sources.readers.json_lines import repeated


def open_csv(file: SourceFile, format: Format, reading: Reading) -> Source:
    """A CSV file; what its columns are is judged by their names and the first rows."""
    csv.field_size_limit(containers.LONGEST_LINE)
    lines = Lines(file)
    records = csv.reader(lines, strict=True, delimiter=_delimiter(file))
    header = _csv_record(file, records, 0)
    while header == []:
        header = _csv_record(file, records, 0)
    header = header or []
    if again := repeated(header):
        raise Unreadable(f"{file.shown_name}: header: column {excerpt(again[0])} occurs twice")
    context = Context(file, format.header(file) if format.header else {})
    rows = _csv_rows(file, records, header)
    first: list[list[str]] = []
    for cells in rows if format.name == "flat" else ():
        first.append(cells)
        if (
            len(first) >= min(limits.SAMPLE_ROWS, limits.CHUNK_ROWS)
            or lines.characters > limits.SAMPLE_BYTES
        ):
            break
    names = {name for field in format.fields for name in (*field.paths, *field.if_values_fit)}
    if format.name == "flat" and not first and names.intersection(header):
        raise empty(file)  # What its columns hold cannot be judged.
    shape = dict.fromkeys(header)
    sample = [
        {name: cell or None for name, cell in zip(header, cells, strict=True)} for cells in first
    ]
    origins = find_origins(format, [shape], context, reading, lambda: sample)
    chunks = _csv_chunks(file, lines, chain(first, rows), header, origins)
    has = columns_shown([shape])
    return make_source("csv", format, context, origins, chunks, has, sample=sample)


def _delimiter(file: SourceFile) -> str:
    """What stands between the names of the header: a comma, unless it has only tabs or `;`."""
    header = next(iter(sniff(file).data.splitlines()), b"").decode(errors="replace")
    delimiter = next((mark for mark in ",\t;" if mark in header), None)
    if delimiter is None and not file.name.lower().endswith((".csv", ".csv.gz", ".tsv", ".zip")):
        raise Unreadable(f"{file.shown_name}: holds neither JSON, nor CSV, nor Parquet")
    return delimiter or ","


def _csv_record(file: SourceFile, records: Iterator[list[str]], row: int) -> list[str] | None:
    try:
        return next(records, None)
    except csv.Error as error:
        place = f"row {row}" if row else "header"
        raise Unreadable(f"{file.shown_name}: {place}: not readable as CSV: {error}") from None


def _csv_rows(
    file: SourceFile, records: Iterator[list[str]], header: list[str]
) -> Iterator[list[str]]:
    """The cells of every row that is not blank."""
    row = 0
    while (cells := _csv_record(file, records, row + 1)) is not None:
        if not cells:
            continue
        row += 1
        if len(cells) != len(header):
            raise Unreadable(
                f"{file.shown_name}: "
                f"row {row}: has {len(cells)} cells, but the header has {len(header)}"
            )
        yield cells


def _csv_chunks(
    file: SourceFile,
    lines: Lines,
    rows: Iterator[list[str]],
    header: list[str],
    origins: Mapping[str, Origin],
) -> Iterator[Chunk]:
    row = size = 0
    batch: list[list[str]] = []

    def chunk() -> Chunk:
        numbers = range(row - len(batch) + 1, row + 1)
        values = {n: _cells(batch, numbers, header, origin) for n, origin in origins.items()}
        return Chunk(values, numbers, lines.done)

    for cells in rows:
        row += 1
        batch.append(cells)
        size += sum(map(len, cells))
        if len(batch) >= limits.CHUNK_ROWS or size > limits.CHUNK_BYTES:
            yield chunk()
            batch, size = [], 0
    if batch:
        yield chunk()
    if row == 0:
        raise empty(file)


def _cells(batch: list[list[str]], numbers: range, header: list[str], origin: Origin) -> list[Any]:
    """The cells of a column; an empty one is null."""
    if origin.is_row:
        return list(numbers)
    if origin.keys is None and origin.looks_into:
        places = [(name, header.index(name)) for name in origin.looks_into if name in header]
        return [origin.get({name: row[at] or None for name, at in places}, 0) for row in batch]
    if origin.keys is None:
        return [origin.get({}, 0)] * len(batch)
    at = header.index(origin.keys[0])
    cells = [row[at] or None for row in batch]
    # A cell with several references is a list only once it is parsed.
    read = None if origin.read is as_references else origin.read
    return cells if read is None else [read(cell) for cell in cells]
