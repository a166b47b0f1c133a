"""Files of lines: JSON lines, and CSV by the names of its header, where an empty cell is null."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from audit.sources import containers
from audit.sources.containers import Lines, sniff
from audit.sources.files import Row, SourceFile, excerpt


def jsonl_rows(file: SourceFile) -> Iterator[Row]:
    """Yield the objects of a file, with their line numbers."""
    lines = Lines(file)
    for line in lines:
        if line.strip():
            yield lines.number, _json_object(file, lines.number, line), len(line), lines.done


def _json_object(file: SourceFile, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line, object_pairs_hook=unique_keys)
    except json.JSONDecodeError as error:
        problem = f"not readable as one JSON object: {error.msg} at character {error.pos + 1}"
    except RecursionError:
        problem = "not readable as JSON: nested too deep"
    except ValueError as error:
        problem = f"not readable as JSON: {error}"
    else:
        if isinstance(record, dict):
            return record
        problem = f"must be a JSON object, found {excerpt(record)}"
    raise file.unreadable(f"line {number}: {problem}")


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of which no key is said twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        (again, *_) = repeated(key for key, _ in pairs)
        raise ValueError(f"key {excerpt(again)} occurs twice")
    return members


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def csv_rows(file: SourceFile) -> Iterator[Row]:
    """Yield the records of every row that is not blank."""
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
