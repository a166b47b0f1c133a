"""A whole file that is one JSON document: an array of objects, or an object of arrays.

An object of arrays is either columns (arrays of one length, an item for each row), or groups (each
array holds the records of what its key names, which is then a column `key`), or an object around
one array of records, whose other plain values are columns of every record. An object of objects
that are alike holds a record under each key, which is then a column `problem_id`.
"""

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit.sources import containers
from audit.sources.containers import HEAD_BYTES, Lines, unzipped
from audit.sources.files import SourceFile, Unreadable, shown
from audit.sources.formats import formats
from audit.sources.json_stream import JsonStream, first_members
from audit.sources.readers.chunks import Row
from audit.sources.readers.json_lines import unique_keys

UNREADABLE = (ValueError, RecursionError, OSError, EOFError, zlib.error)
# What a group's key is called in its records.
KEY = "key"


def holds_records(path: Path) -> bool:
    """Whether a .json file in a folder is a log or records, going by how it begins."""
    try:
        with open(path, "rb") as stream:
            head = stream.read(HEAD_BYTES)
    except OSError:
        return True  # Whoever opens it says why.
    if containers.JSON_ARRAY.match(head.removeprefix(b"\xef\xbb\xbf").lstrip()):
        return True
    found, is_whole = first_members(head)
    known = any(format.knows(found) for format in formats().values())
    is_several = _is_of_arrays(found) or (is_whole and _holds_several(found))
    return known or "eval" in found or is_several


def is_document(file: SourceFile) -> bool:
    """Whether a file that begins with an object is one document and not one object per line."""
    lines = iter(Lines(file))
    first = next((line for line in lines if line.strip()), "")
    if first.strip() == "{":
        return True
    if any(line.strip() for line in lines):
        return False
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and (_is_of_arrays(record) or _holds_several(record))


def _holds_several(record: dict[str, Any]) -> bool:
    """Whether an object holds records of its own, in an array or under keys, and is none itself."""
    problem = next(one for one in formats()["flat"].fields if one.column == "question_id")
    names = {*problem.paths, *problem.if_one_row_per_problem, *problem.if_values_fit}
    lists = [value for name, value in record.items() if _groups({name: value})]
    if len(lists) == 1 and not names & record.keys():
        return all({*names, "input", "prompt"} & item.keys() for item in lists[0])
    return _is_keyed(record)


def _is_keyed(record: dict[str, Any]) -> bool:
    """Whether an object holds objects that are alike."""
    if len(record) < 2 or not all(isinstance(value, dict) for value in record.values()):
        return False
    first, *others = (value.keys() for value in record.values())
    common = set(first).intersection(*others)
    return bool(common) and 2 * len(common) >= len(first)


def _is_of_arrays(record: dict[str, Any]) -> bool:
    """Whether an object holds nothing but arrays, several of one length or groups of objects."""
    if len(record) < 2 and not _groups(record):
        return False
    return bool(record) and (_is_columns(record) or _groups(record))


def _is_columns(record: dict[str, Any]) -> bool:
    lists = [value for value in record.values() if isinstance(value, list)]
    return len(lists) == len(record) > 1 and len({len(one) for one in lists}) == 1


def _groups(record: dict[str, Any]) -> bool:
    return bool(record) and all(
        isinstance(value, list) and value and all(isinstance(item, dict) for item in value)
        for value in record.values()
    )


def document_rows(file: SourceFile) -> Iterator[Row]:
    """The records of a document, numbered from 1."""
    try:
        with open(file.path, "rb") as raw:
            stream = JsonStream(unzipped(raw), containers.LONGEST_LINE, unique_keys)
            before = 0
            is_array = stream.begins_with("[")
            items = stream.items() if is_array else _of_object(file, stream.value())
            for number, item in enumerate(items, 1):
                if not isinstance(item, dict):
                    raise ValueError(f"item {number} must be an object, found {shown(item)}")
                done = raw.tell()
                yield number, item, max(done - before, 1), done
                before = done
            if is_array:
                stream.end()
    except UNREADABLE as error:
        raise _damaged(file, error) from None


def _damaged(file: SourceFile, error: BaseException) -> Unreadable:
    if isinstance(error, RecursionError):
        return Unreadable(f"{file.shown_name}: not readable as one JSON document: nested too deep")
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return Unreadable(f"{file.shown_name}: not readable as one JSON document: {reason}")


def _of_object(file: SourceFile, document: Any) -> Iterator[Any]:
    if not isinstance(document, dict):
        raise ValueError(f"must be an object or an array, found {shown(document)}")
    if _is_columns(document) and not _groups(document):
        for values in zip(*document.values(), strict=True):
            yield dict(zip(document, values, strict=True))
        return
    held = {name: value for name, value in document.items() if _groups({name: value})}
    if len(held) == len(document) > 1:
        for name, items in held.items():
            yield from ({KEY: name} | item for item in items)
    elif len(held) == 1:
        (items,) = held.values()
        plain = {k: v for k, v in document.items() if isinstance(v, str | int | float | None)}
        yield from (plain | item for item in items)
    elif _is_keyed(document):
        yield from ({"problem_id": name} | item for name, item in document.items())
    else:
        yield document
