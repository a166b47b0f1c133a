"""Readers: read a file of any container and format as chunks of raw values by column."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache

from audit.options import Reading
from audit.sources import containers
from audit.sources.containers import (
    CONTAINERS,
    HEAD_BYTES,
    cached_per_file,
    read_first_bytes,
    sniff,
)
from audit.sources.files import Row, Source, SourceFile
from audit.sources.formats import Context, Format, load_formats, recognize
from audit.sources.json_stream import read_first_members
from audit.sources.readers.chunks import open_records
from audit.sources.readers.documents import read_document_rows
from audit.sources.readers.format_selects import open_format
from audit.sources.readers.lines import read_csv_rows
from audit.sources.readers.parquet import open_parquet, read_parquet_rows


def read_source(file: SourceFile, reading: Reading) -> Source:
    """Open a file in the format of --format, or else of its content, and find its columns."""
    name = reading.format
    container = name if name in CONTAINERS else sniff(file).container
    format = load_formats()["inspect" if container == "zip" else "flat"]
    if name is not None:
        format = load_formats().get(name, load_formats()["flat"])
    elif container in ("jsonl", "json"):
        format = _recognize_json(file)
    if container == "zip" and format.records is None:
        raise file.error("is a zip archive, which only --format inspect reads")
    if container == "parquet" and format.records is None:
        return open_parquet(file, None if name is None else format, reading)
    if format.select is not None:
        return open_format(file, format, reading)
    context = Context(file, format, reading, container)
    if format.records is not None:
        return open_records(context, format.records(context))
    source = open_records(context, read_rows(file, container))
    return replace(source, records=lambda: (row[1] for row in read_rows(file, container)))


def read_rows(file: SourceFile, container: str) -> Iterator[Row]:
    """Return the records of a file; cache those of a beginning, which is tried several times."""
    read = {"csv": read_csv_rows, "parquet": read_parquet_rows}.get(container, read_document_rows)
    return read(file) if file.sample is None else iter(_read_beginning(file, read))


@lru_cache(maxsize=1024)
def _read_beginning(file: SourceFile, read: Callable[[SourceFile], Iterator[Row]]) -> list[Row]:
    rows: list[Row] = []
    for row in read(file):
        rows.append(row)
        if row[3] > (file.sample or 0):
            break
    return rows


@cached_per_file
def _recognize_json(file: SourceFile) -> Format:
    """Return the format of a JSON file; read on until its first object is recognized or whole."""
    head = sniff(file)
    data, is_cut, size = head.data, head.is_cut, HEAD_BYTES
    while True:
        members, is_whole = read_first_members(
            data.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n[")
        )
        known = [f for f in load_formats().values() if (f.records or f.select) and f.knows(members)]
        if is_whole or not is_cut or size > containers.LONGEST_LINE or known:
            return recognize(file, members)
        size *= 16
        data = read_first_bytes(file, size)
        is_cut = len(data) == size
