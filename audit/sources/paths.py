"""Dotted paths into records: keys, list positions, and `*` for the attempt's own position."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from audit.answers.extract import compile_group

Keys = tuple[str, ...]
# In a path: the position of the attempt among those of its record.
EACH = "*"
LEAVES_SHOWN = 40


def split_pattern(path: str) -> tuple[str, re.Pattern[str] | None]:
    """Split `PATH~PATTERN` into the path and the compiled pattern, None without a `~`."""
    path, tilde, written = path.partition("~")
    if not tilde:
        return path, None
    option = f"--map …={path}~{written}"
    return path, compile_group(written, option, "put the part to take in parentheses")


def find_keys(record: Any, parts: Sequence[str]) -> Keys | None:
    """Return the keys of a dotted path in a record, or None; a key may itself contain dots."""
    if not parts:
        return ()
    if isinstance(record, list):
        if parts[0] != EACH and not parts[0].isdecimal():
            return None
        keys = find_keys(walk(record, parts[:1]), parts[1:]) if record else None
        return None if keys is None else (parts[0], *keys)
    if isinstance(record, dict):
        for count in range(1, len(parts) + 1):
            key = ".".join(parts[:count])
            if key in record:
                keys = find_keys(record[key], parts[count:])
                if keys is not None:
                    return (key, *keys)
    return None


def walk(value: Any, keys: Sequence[str], position: int = 0) -> Any:
    """Follow keys into a value; return what is there, or None. `position` replaces `*`."""
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list):
            place = position if key == EACH else int(key) if key.isdecimal() else -1
            value = value[place] if 0 <= place < len(value) else None
        else:
            return None
    return value


def find_value(record: Any, *paths: str) -> Any:
    """Return the first value at any of some dotted paths, or None."""
    values = (walk(record, path.split(".")) for path in paths)
    return next((value for value in values if value is not None), None)


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, and an empty list for any other value."""
    return value if isinstance(value, list) else []


def list_paths(record: Any, before: str = "", depth: int = 3) -> Iterator[str]:
    """Yield the dotted paths of the values of a record, for a message."""
    for key, value in record.items():
        if isinstance(value, dict) and value and depth:
            yield from list_paths(value, f"{before}{key}.", depth - 1)
        else:
            yield f"{before}{key}"
