"""A whole file that is one JSON document: an array of objects, or an object of arrays.

An object of arrays is either columns (arrays of one length, an item for each row), or groups (each
array holds the records of what its key names, which is then a column `key`), or an object around
one array of records, whose other plain values are columns of every record. An object of objects
that are alike holds a record under each key, which is then a column `problem_id`. Where one object
in an object holds records, they are the document's.
"""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from audit.sources import containers
from audit.sources.containers import HEAD_BYTES, Lines, once, sniff
from audit.sources.files import Row, SourceFile, excerpt
from audit.sources.formats import formats
from audit.sources.formats.flat import KNOWN
from audit.sources.json_stream import JsonStream, first_members, small_document, stream_records
from audit.sources.readers.lines import unique_keys

# What a group's key is called in its records.
KEY = "key"
# What SWE-bench is given of each run: it holds no cost, and stands beside the runs.
PREDICTION = {"instance_id", "model_patch"}
# What a report of SWE-bench lists.
REPORTED = "resolved_ids"


def holds_records(path: Path) -> bool:
    """Return whether a .json file in a folder is a log or records, going by how it begins."""
    if _is_part_of_trial(path):
        return False
    try:
        with open(path, "rb") as stream:
            head = stream.read(HEAD_BYTES)
    except OSError:
        return True  # Whoever opens it says why.
    if containers.JSON_ARRAY.match(head.removeprefix(b"\xef\xbb\xbf").lstrip()):
        return True
    members, is_whole = first_members(head)
    if any(isinstance(v, dict) and v.keys() >= PREDICTION for v in members.values()):
        return False
    is_known = any(format.knows(members) for format in formats().values())
    is_several = _is_of_arrays(members) or (is_whole and _holds_several(members))
    return is_known or "eval" in members or is_several


def _is_part_of_trial(path: Path) -> bool:
    """Return whether a file is read with the result of its Harbor trial, so not by itself."""
    if path.parent.name != "agent" or not path.name.startswith("trajectory"):
        return False
    result = small_document(path.parent.parent / "result.json")
    return isinstance(result, dict) and {"task_name", "trial_name", "agent_info"} <= result.keys()


@once
def is_document(file: SourceFile) -> bool:
    """Whether a file that begins with an object is one document and not one object per line."""
    begin, *more = sniff(file).data.split(b"\n", 1)
    if begin.strip() == b"{":
        return True
    if more and more[0].strip():
        return False  # Most files are known by their first bytes.
    lines = iter(Lines(file))
    first = next((line for line in lines if line.strip()), "")
    if any(line.strip() for line in lines):
        return False
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and (_is_of_arrays(record) or _holds_several(record))


@cache
def _problem_names() -> frozenset[str]:
    """Return what names a problem, beside a prompt."""
    problem = KNOWN["question_id"]
    return frozenset((*problem.paths, *problem.if_one_row_per_problem, *problem.if_values_fit))


def _names_problems(items: list[dict[str, Any]]) -> bool:
    return all({*_problem_names(), "input", "prompt"} & item.keys() for item in items)


def _record_list(record: dict[str, Any]) -> str | None:
    """The array of an object that holds its records: the only one, or the one with problems."""
    lists = [name for name, value in record.items() if _groups({name: value})]
    if len(lists) > 1:
        lists = [name for name in lists if _names_problems(record[name])]
    return lists[0] if len(lists) == 1 else None


def _holds_several(record: dict[str, Any]) -> bool:
    """Whether an object holds records of its own, in an array or under keys, and is none itself."""
    name = _record_list(record)
    if name is not None and not _problem_names() & record.keys():
        return _names_problems(record[name])
    is_report = isinstance(record.get(REPORTED), list)
    return is_report or _is_table(record) or _is_keyed(record) or _inner(record) is not None


def _inner(record: dict[str, Any]) -> dict[str, Any] | None:
    """Return the only object in an object that holds lists of records; a record has no such."""
    is_record = bool(_problem_names() & record.keys())
    if is_record or any(isinstance(value, list) for value in record.values()):
        return None
    objects = [value for value in record.values() if isinstance(value, dict)]
    several = [value for value in objects if _holds_lists(value)]
    return several[0] if len(several) == 1 else None


def _holds_lists(record: dict[str, Any]) -> bool:
    """Return whether an object holds lists of records, itself or in an object of its own."""
    name = _record_list(record)
    if (len(record) > 1 and _groups(record)) or (name and _names_problems(record[name])):
        return True
    return _inner(record) is not None


def _is_table(record: dict[str, Any]) -> bool:
    """Return whether an object is a table in rows, as pandas and others write it."""
    names, rows = record.get("columns"), record.get("data")
    if not (isinstance(names, list) and isinstance(rows, list) and names and rows):
        return False
    return len(set(map(str, names))) == len(names) and all(
        isinstance(row, list) and len(row) == len(names) for row in rows
    )


def _is_numbered(record: dict[str, Any]) -> bool:
    """Return whether an object holds columns whose values go by the numbers of their rows."""
    if len(record) < 2 or not all(isinstance(v, dict) and v for v in record.values()):
        return False
    first, *others = (value.keys() for value in record.values())
    if not all(key.isdecimal() for key in first) or any(keys != first for keys in others):
        return False
    return not all(isinstance(cell, dict) for column in record.values() for cell in column.values())


def _is_keyed(record: dict[str, Any]) -> bool:
    """Return whether an object holds objects that are alike."""
    if len(record) < 2 or not all(isinstance(value, dict) for value in record.values()):
        return False
    first, *others = (value.keys() for value in record.values())
    common = set(first).intersection(*others)
    return bool(common) and 2 * len(common) >= len(first)


def _is_of_arrays(record: dict[str, Any]) -> bool:
    """Whether an object holds nothing but arrays, several of one length or groups of objects."""
    return _is_columns(record) or _groups(record)


def _is_columns(record: dict[str, Any]) -> bool:
    lists = [value for value in record.values() if isinstance(value, list)]
    return len(lists) == len(record) > 1 and len(set(map(len, lists))) == 1


def _groups(record: dict[str, Any]) -> bool:
    return bool(record) and all(
        isinstance(value, list) and value and all(isinstance(item, dict) for item in value)
        for value in record.values()
    )


def document_rows(file: SourceFile) -> Iterator[Row]:
    """Return the records of a document, numbered from 1."""
    return stream_records(file, _records, "not readable as one JSON document", unique_keys)


def _records(stream: JsonStream) -> Iterator[Any]:
    if stream.begins_with("["):
        yield from stream.items()
        stream.end()
        return
    document = stream.value()
    others = stream.values()
    second = next(others, None)
    # Several objects one after another are a record each.
    yield from _of_object(document) if second is None else chain((document, second), others)


def _of_object(document: Any) -> Iterable[Any]:
    if not isinstance(document, dict):
        raise ValueError(f"must be an object or an array, found {excerpt(document)}")
    if _is_table(document):
        return (dict(zip(document["columns"], row, strict=True)) for row in document["data"])
    if _is_numbered(document):
        numbers = next(iter(document.values()))
        return ({name: column[at] for name, column in document.items()} for at in numbers)
    if _is_columns(document) and not _groups(document):
        rows = zip(*document.values(), strict=True)
        return (dict(zip(document, values, strict=True)) for values in rows)
    if len(document) > 1 and _groups(document):
        return ({KEY: name} | item for name, items in document.items() for item in items)
    plain = {k: v for k, v in document.items() if isinstance(v, str | int | float | None)}
    if (name := _record_list(document)) is not None:
        return (plain | item for item in document[name])
    if _is_keyed(document):
        return ({"problem_id": name} | item for name, item in document.items())
    if (inner := _inner(document)) is not None:
        return (plain | item for item in _of_object(inner))
    if isinstance(document.get(REPORTED), list):
        raise ValueError("it names who is right and holds no attempts; give it as --labels FILE")
    return (document,)
