"""A file of JSON: lines, an array of objects, or one document around its records.

A document is columns (arrays of one length), groups (arrays of objects, each under a key, which is
then a column `key`), an object around one array of records, whose other texts are columns of every
record, or objects that are alike under the names of problems (`problem_id`), perhaps in an object.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from audit.sources.containers import HEAD_BYTES
from audit.sources.files import Row, SourceFile
from audit.sources.formats import Record, load_formats
from audit.sources.formats.flat import KNOWN
from audit.sources.json_stream import (
    JsonStream,
    read_first_members,
    read_small_document,
    stream_records,
)

_PROBLEM = KNOWN["question_id"]
# Known column names of a problem.
NAMES = {*_PROBLEM.paths, *_PROBLEM.if_one_row_per_problem, *_PROBLEM.if_values_fit}
# Lists with these names hold the turns of a conversation, not records.
TURNS = {"messages", "turns", "rounds", "history", "conversation", "conversations", "trajectory"}
DAMAGED = "not readable as JSON"
# Keys of a prediction for SWE-bench: such a file lies beside the runs and holds no cost.
PREDICTION = {"instance_id", "model_patch"}


def read_json_rows(file: SourceFile) -> Iterator[Row]:
    """Yield the JSON objects of a file, numbered from 1."""
    return stream_records(file, JsonStream.records, DAMAGED)


def read_document_rows(file: SourceFile) -> Iterator[Row]:
    """Yield the records of a JSON file; search a single document for its records."""
    return stream_records(file, _find_stream_records, DAMAGED)


def _find_stream_records(stream: JsonStream) -> Iterator[Any]:
    """Yield the values of a stream, or the records inside its only object."""
    is_array = stream.next() == "["
    records = stream.records()
    match list(islice(records, 2)):
        case [{"resolved_ids": [*_]}]:
            raise ValueError(
                "it names who is right and holds no attempts; give it as --labels FILE"
            )
        case [dict() as document] if not is_array:
            yield from find_records(document)
        case first:
            yield from chain(first, records)


def has_records(path: Path) -> bool:
    """Tell by its first bytes whether a .json file in a folder is a log or holds records."""
    if _is_part_of_trial(path):
        return False
    try:
        with open(path, "rb") as stream:
            head = stream.read(HEAD_BYTES)
    except OSError:
        return True  # The reader will report the error.
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        return True
    members, _ = read_first_members(head)
    if any(isinstance(v, dict) and v.keys() >= PREDICTION for v in members.values()):
        return False
    # The header of an Inspect log that lies unpacked beside its samples holds none of them.
    if "eval" in members and (path.parent / "summaries.json").is_file():
        return False
    is_known = any(format.knows(members) for format in load_formats().values())
    records = list(find_records(members))
    is_several = records != [members] and all(NAMES & record.keys() for record in records)
    is_groups = bool(members) and len(list(_find_lists(members))) == len(members)
    return is_known or "eval" in members or is_several or is_groups


def _is_part_of_trial(path: Path) -> bool:
    """Tell whether a file is part of a Harbor trial, and so read with its result.json."""
    if path.parent.name != "agent" or not path.name.startswith("trajectory"):
        return False
    result = read_small_document(path.parent.parent / "result.json")
    return isinstance(result, dict) and {"task_name", "trial_name", "agent_info"} <= result.keys()


def find_records(document: Record) -> Iterable[Record]:
    """Return the records inside a document, or the document as the only record."""
    values = list(document.values())
    names, table = document.get("columns"), document.get("data")
    if isinstance(names, list) and isinstance(table, list):
        return [dict(zip(names, row, strict=True)) for row in table]
    lists = list(_find_lists(document))
    if len(values) > 1 and len(lists) == len(values):
        return [{"key": name} | item for name in lists for item in document[name]]
    named_by = NAMES & document.keys()
    named = [name for name in lists if all(NAMES & item.keys() for item in document[name])]
    if len(found := named or lists) == 1 and not (named_by - {"id", "key"} if named else named_by):
        # A number beside the records is a sum or a setting of the run, and no record's.
        plain = {k: v for k, v in document.items() if isinstance(v, str | None)}
        return [plain | item for item in document[found[0]]]
    if len(values) > 1 and all(isinstance(v, list) and len(v) == len(values[0]) for v in values):
        return [dict(zip(document, row, strict=True)) for row in zip(*values, strict=True)]
    if len(values) > 1 and all(isinstance(value, dict) and value for value in values):
        first = values[0].keys()
        if all(key.isdecimal() for key in first) and all(v.keys() == first for v in values):
            return [{name: column[at] for name, column in document.items()} for at in first]
        if 2 * len(first & set.intersection(*map(set, values))) >= len(first):
            return [{"problem_id": name} | item for name, item in document.items()]
    keyed = [v for v in values if isinstance(v, dict) and len(list(find_records(v))) > 1]
    return find_records(keyed[0]) if len(keyed) == 1 and not lists else [document]


def _find_lists(document: Record) -> Iterator[str]:
    """Yield the names of the members that are lists of objects, turns aside."""
    for name, value in document.items():
        is_list = isinstance(value, list) and value and name.lower() not in TURNS
        if is_list and all(isinstance(item, dict) for item in value):
            yield name
