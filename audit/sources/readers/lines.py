"""Lines of text, and CSV by the names of its header, where an empty cell is null."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from audit.sources import containers
from audit.sources.containers import DAMAGE, DAMAGED, open_unzipped, sniff
from audit.sources.files import Row, SourceFile, excerpt


def read_lines(file: SourceFile) -> Iterator[tuple[int, str, int]]:
    """Yield each line that is not blank, with its number and the bytes of the file read so far."""
    number = 0
    try:
        with open(file.path, "rb") as raw:
            for number, line in enumerate(open_unzipped(raw), 1):
                if line.strip():
                    yield number, line.decode("utf-8-sig"), raw.tell()
    except UnicodeDecodeError as error:
        what = f"is not valid UTF-8 at byte {error.start + 1}"
        raise file.unreadable(f"line {number}: {what}") from None
    except DAMAGED as error:
        raise file.unreadable(f"line {number + 1}: {DAMAGE}: {error}") from None


def read_csv_rows(file: SourceFile) -> Iterator[Row]:
    """Yield the rows of a CSV file that are not blank, as records by header name."""
    csv.field_size_limit(containers.LONGEST_LINE)
    place, row = "header", 0
    try:
        with open(file.path, "rb") as raw:
            # Bytes that are no UTF-8 are refused with the row and column that hold them.
            stream: Any = open_unzipped(raw)
            text = io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="")
            records = filter(None, csv.reader(text, strict=True, delimiter=_find_delimiter(file)))
            header = next(records, [])
            if again := next((name for name in header if header.count(name) > 1), None):
                raise file.unreadable(f"header: column {excerpt(again)} occurs twice")
            place = "row 1"
            for row, cells in enumerate(records, 1):
                if len(cells) != len(header):
                    counts = f"has {len(cells)} cells, but the header has {len(header)}"
                    raise file.unreadable(f"{place}: {counts}")
                record = {name: cell or None for name, cell in zip(header, cells, strict=True)}
                yield row, record, sum(map(len, cells)), raw.tell()
                place = f"row {row + 1}"
    except csv.Error as error:
        raise file.unreadable(f"{place}: not readable as CSV: {error}") from None
    except DAMAGED as error:
        raise file.unreadable(f"{place}: {DAMAGE}: {error}") from None


def _find_delimiter(file: SourceFile) -> str:
    """Return the delimiter of the header: a comma, else a tab, else `;`."""
    header = next(iter(sniff(file).data.splitlines()), b"").decode(errors="replace")
    delimiter = next((mark for mark in ",\t;" if mark in header), None)
    if delimiter is None and not file.name.lower().endswith((".csv", ".csv.gz", ".tsv", ".zip")):
        raise file.unreadable("holds neither JSON, nor CSV, nor Parquet")
    return delimiter or ","
