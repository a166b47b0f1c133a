"""JSON lines: an object on every line that is not blank."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from audit.sources.containers import Lines
from audit.sources.files import Row, SourceFile, excerpt


def jsonl_rows(file: SourceFile) -> Iterator[Row]:
    """The objects of a file, with their line numbers."""
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
    """An object of which no key is said twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        (again, *_) = repeated(key for key, _ in pairs)
        raise ValueError(f"key {excerpt(again)} occurs twice")
    return members


def repeated(names: Iterable[str]) -> list[str]:
    """The names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]
