"""Readers: a file of any container and format becomes chunks of raw values by column."""

from dataclasses import replace

from audit.options import Reading
from audit.sources import containers
from audit.sources.containers import CONTAINERS, HEAD_BYTES, first_bytes, once, sniff
from audit.sources.files import Source, SourceFile
from audit.sources.formats import Format, context_of, formats, of_container, recognize
from audit.sources.json_stream import first_members
from audit.sources.readers.chunks import open_records
from audit.sources.readers.documents import document_rows, is_document
from audit.sources.readers.format_selects import open_format
from audit.sources.readers.lines import csv_rows, jsonl_rows
from audit.sources.readers.parquet import open_parquet

READERS = {"csv": csv_rows, "json": document_rows, "jsonl": jsonl_rows}


def read_source(file: SourceFile, reading: Reading, declared: Format | None = None) -> Source:
    """Open a file in the format that was named, or else of its content, and find its columns."""
    name = reading.format
    container = name if name in CONTAINERS else sniff(file).container
    format = declared or formats().get(name or "", formats()["flat"])
    is_open = name is None and declared is None
    if is_open and container in ("jsonl", "json"):
        format = _recognized(file)
    if is_open and (owner := of_container(container)):
        format = owner
    if container == "zip" and format.records is None:
        only = of_container("zip")
        reads = f"which only --format {only.name} reads" if only else "which nothing reads"
        raise file.error(f"is a zip archive, {reads}")
    if container == "parquet" and format.records is None:
        return open_parquet(file, None if is_open else format, reading)
    if format.select is not None:
        return open_format(file, format, reading)
    if container == "jsonl" and name != "jsonl" and format.name == "flat" and is_document(file):
        container = "json"
    context = context_of(file, format, reading, container)
    if format.records is not None:
        return open_records(context, format.records(file, context.header))
    source = open_records(context, READERS[container](file))
    return replace(source, records=lambda: (row[1] for row in READERS[container](file)))


@once
def _recognized(file: SourceFile) -> Format:
    """Return the format of a file of JSON, by its first object or as much of it as tells."""
    head = sniff(file)
    data, is_cut, size = head.data, head.is_cut, HEAD_BYTES
    while True:
        if head.container == "json":
            data = data.removeprefix(b"\xef\xbb\xbf").lstrip().removeprefix(b"[")
        members, is_whole = first_members(data)
        is_known = any(
            (format.records or format.select) and format.knows(members)
            for format in formats().values()
        )
        if is_whole or not is_cut or size > containers.LONGEST_LINE or is_known:
            return recognize(file, members)
        size *= 16
        data = first_bytes(file, size)
        is_cut = len(data) >= size - 4
