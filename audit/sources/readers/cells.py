"""CSV: records by the names of the header; an empty cell is null."""

import csv
from collections.abc import Iterator

from audit.sources import containers
from audit.sources.containers import Lines, sniff
from audit.sources.files import Row, SourceFile, excerpt
from audit.sources.readers.json_lines import repeated


def csv_rows(file: SourceFile) -> Iterator[Row]:
    """The records of every row that is not blank."""
    csv.field_size_limit(containers.LONGEST_LINE)
    lines = Lines(file)
    records = filter(None, csv.reader(lines, strict=True, delimiter=_delimiter(file)))
    place = "header"
    try:
        header = next(records, [])
        if again := repeated(header):
            raise file.unreadable(f"header: column {excerpt(again[0])} occurs twice")
        place = "row 1"
        for row, cells in enumerate(records, 1):
            if len(cells) != len(header):
                counts = f"has {len(cells)} cells, but the header has {len(header)}"
                raise file.unreadable(f"{place}: {counts}")
            record = {name: cell or None for name, cell in zip(header, cells, strict=True)}
            yield row, record, sum(map(len, cells)), lines.done
            place = f"row {row + 1}"
    except csv.Error as error:
        raise file.unreadable(f"{place}: not readable as CSV: {error}") from None


def _delimiter(file: SourceFile) -> str:
    """What stands between the names of the header: a comma, unless it has only tabs or `;`."""
    header = next(iter(sniff(file).data.splitlines()), b"").decode(errors="replace")
    delimiter = next((mark for mark in ",\t;" if mark in header), None)
    if delimiter is None and not file.name.lower().endswith((".csv", ".csv.gz", ".tsv", ".zip")):
        raise file.unreadable("holds neither JSON, nor CSV, nor Parquet")
    return delimiter or ","
