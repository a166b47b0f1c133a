"""Formats: how the logs of one tool map to the canonical columns, declared in one file each.

A format lists, for each canonical column, the paths where it may be. The first that a file has is
taken, for the whole file, and shown by `describe`. Adding a format is adding a module beside this
one with a `FORMAT` in it.
"""

import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from audit.errors import AuditError
from audit.sources import SourceFile, named, shown
from audit.sources.canonical import COLUMNS
from audit.sources.paths import EACH, LEAVES_SHOWN, Keys, find_keys, leaves, split_pattern, walk

Record = dict[str, Any]
# Text that was paid for and is not the answer: read only where tokens are counted.
REASONING = "reasoning"
RECORDS_SHOWN = 16


@dataclass(frozen=True)
class Choices:
    """What the user has settled: paths by canonical column, and what stands in where none is."""

    mapping: Mapping[str, str] = field(default_factory=dict)
    archive: str | None = None
    competition: str | None = None
    finish_reason: str | None = None
    count_tokens: str | None = None
    answer: str = "boxed"
    grade: str | None = None
    references: str | None = None


@dataclass
class Context:
    """What is known of a file beyond its records: its header, and what was met on the way."""

    file: SourceFile
    header: Record = field(default_factory=dict)
    # Segments of paths in braces, such as {model}.
    names: dict[str, str] = field(default_factory=dict)
    row: int = 0
    notes: Counter[str] = field(default_factory=Counter)
    seen: dict[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Field:
    """Where a canonical column may be; `find` reaches what no path does, `read` makes a value."""

    column: str
    paths: tuple[str, ...]
    read: Callable[[Any], Any] | None = None
    find: Callable[[Record, int, Context], Any] | None = None
    # The columns that `find` looks into, where columns are read one by one.
    needs: tuple[str, ...] = ()


def taken(
    column: str,
    *paths: str,
    read: Callable[[Any], Any] | None = None,
    find: Callable[[Record, int, Context], Any] | None = None,
    needs: tuple[str, ...] = (),
) -> Field:
    """A line of a format's mapping. A path from `@` is in the file's header, not in a record."""
    return Field(column, paths, read, find, needs)


@dataclass(frozen=True)
class Format:
    """The logs of one tool: how to know them, and where their columns are."""

    name: str
    title: str
    fields: tuple[Field, ...]
    # Known by any of these sets of paths.
    marks: tuple[tuple[str, ...], ...] = ()
    # The list that holds the attempts of a record.
    each: tuple[str, ...] = ()
    # What a file says of itself beyond its records.
    header: Callable[[SourceFile], Record] | None = None
    # A record as it should be read, or None where it holds no attempt.
    adjust: Callable[[Record, Context], Record | None] | None = None
    # Records of a file that is neither JSON lines nor Parquet: row, record, size, bytes done.
    records: Callable[[SourceFile, Record], Iterator[tuple[int, Record, int, int]]] | None = None
    # Why a column may be absent, in words.
    absent: Mapping[str, str] = field(default_factory=dict)

    def knows(self, record: Mapping[str, Any]) -> bool:
        """Whether a first record is one of this tool's."""
        return any(
            all(find_keys(record, path.split(".")) is not None for path in marks)
            for marks in self.marks
        )


@dataclass(frozen=True)
class Origin:
    """Where a column of this file comes from: in words, and how to get at a value."""

    where: str
    get: Callable[[Record, int], Any]
    keys: Keys | None = None
    read: Callable[[Any], Any] | None = None
    needs: tuple[str, ...] = ()


@cache
def formats() -> dict[str, Format]:
    """Every format, by its name; a module of this package is one if it has a `FORMAT`."""
    package = import_module("audit.sources")
    modules = (
        import_module(f"audit.sources.{module.name}")
        for module in pkgutil.iter_modules(package.__path__)
    )
    found = [module.FORMAT for module in modules if hasattr(module, "FORMAT")]
    return {format.name: format for format in sorted(found, key=lambda format: format.name)}


def recognize(file: SourceFile, record: Mapping[str, Any]) -> Format:
    """The format of a first record; one with columns of its own is flat."""
    known = [format for format in formats().values() if format.knows(record)]
    if len(known) > 1:
        names = " or ".join(format.name for format in known)
        raise AuditError(f"{file.label}: looks like {names}; pass --format to say which")
    return known[0] if known else formats()["flat"]


def positions(record: Record, format: Format) -> Sequence[int]:
    """The positions of a record's attempts."""
    if not format.each:
        return (0,)
    for path in format.each:
        attempts = walk(record, path.split("."))
        if isinstance(attempts, list):
            return range(len(attempts))
    return ()


def find_origins(
    format: Format,
    sample: Sequence[Record],
    context: Context,
    choices: Choices,
    rows: Callable[[], Sequence[Record]] | None = None,
) -> dict[str, Origin]:
    """Where each canonical column comes from in this file, as far as it has it.

    A sample may be of a schema's names alone; then `rows` gives records with values.
    """
    found: dict[str, Origin] = {}
    declared = {one.column: one for one in format.fields}
    for column in (*COLUMNS, REASONING):
        one = declared.get(column, taken(column))
        path = choices.mapping.get(column)
        constant = {"archive": choices.archive, "competition": choices.competition}.get(one.column)
        if constant is not None:
            found[one.column] = _constant(f"--{one.column}", constant)
        elif path is not None:
            found[one.column] = _mapped(one, path, sample, context)
        elif one.find is not None:
            values = rows() if rows else sample
            if origin := _looked_up(one, one.find, values, context, format):
                found[one.column] = origin
        elif origin := _found(one, sample, context, format):
            found[one.column] = origin
    return found


def _constant(where: str, value: Any) -> Origin:
    return Origin(where, lambda record, position: value)


def _mapped(one: Field, path: str, sample: Sequence[Record], context: Context) -> Origin:
    """A path that the user has named."""
    plain, pattern = split_pattern(path)
    parts = plain.split(".")
    keys = next((keys for record in sample if (keys := find_keys(record, parts))), None)
    if keys is None:
        raise AuditError(
            f"{context.file.label}: --map {one.column}={path}: no column {shown(plain)}; "
            f"{columns_shown(sample)}"
        )
    if pattern is None:
        return _at(path, keys, one.read if plain != one.column else None)
    return _at(path, keys, lambda value: _group(pattern, value))


def _group(pattern: re.Pattern[str], value: Any) -> Any:
    match = pattern.fullmatch(value) if isinstance(value, str) else None
    return match[1] if match else None


def _looked_up(
    one: Field,
    find: Callable[[Record, int, Context], Any],
    sample: Sequence[Record],
    context: Context,
    format: Format,
) -> Origin | None:
    """What no path reaches, if any record of the sample has it."""
    places = ((record, position) for record in sample for position in positions(record, format))
    if all(find(record, position, context) is None for record, position in places):
        return None
    read = one.read or _same
    return Origin(
        one.paths[0],
        lambda record, position: read(find(record, position, context)),
        needs=one.needs,
    )


def _found(one: Field, sample: Sequence[Record], context: Context, format: Format) -> Origin | None:
    """The first path that leads to a value, or else the first that is there at all."""
    present: list[Origin] = []
    for path in one.paths:
        if path == EACH:
            return Origin(f"position in {format.each[0]}", lambda record, position: position)
        if path.startswith("@"):
            value = walk(context.header, path[1:].split("."))
            if value is not None:
                return _constant(path[1:], value)
            continue
        try:
            parts = [part.format_map(context.names) for part in path.split(".")]
        except KeyError:
            continue  # The file does not say which model or scorer.
        kept = [keys for record in sample if (keys := find_keys(record, parts)) is not None]
        if not kept:
            continue
        origin = _at(".".join(parts), kept[0], one.read if parts != [one.column] else None)
        if any(walk(record, kept[0]) is not None for record in sample):
            return origin
        present.append(origin)
    return present[0] if present else None


def _same(value: Any) -> Any:
    return value


def _at(where: str, keys: Keys, read: Callable[[Any], Any] | None) -> Origin:
    if read is not None:
        make = read
        return Origin(
            where, lambda record, position: make(walk(record, keys, position)), keys, read
        )
    if len(keys) == 1:
        (key,) = keys
        return Origin(where, lambda record, position: record.get(key), keys)
    return Origin(where, lambda record, position: walk(record, keys, position), keys)


def columns_shown(sample: Sequence[Record]) -> str:
    """What a file has, for a message: the first records tell."""
    found = dict.fromkeys(path for record in sample[:RECORDS_SHOWN] for path in leaves(record))
    return "it has " + ", ".join(named(name) for name in list(found)[:LEAVES_SHOWN])


# Readings that several formats share.


def as_text(value: Any) -> Any:
    """A number as its text; what is neither is left for the column's rule to refuse."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def as_references(value: Any) -> Any:
    """One reference, or several, as a list of texts."""
    if value is None:
        return None
    return [as_text(item) for item in (value if isinstance(value, list) else [value])]


def mean_logprob(tokens: Any) -> Any:
    """The mean log-probability of a list of tokens, each {"logprob": …} or a number."""
    if not isinstance(tokens, list) or not tokens:
        return None
    numbers: list[Any] = [
        token.get("logprob") if isinstance(token, dict) else token for token in tokens
    ]
    if not all(isinstance(number, int | float) for number in numbers):
        return None
    try:
        return sum(numbers) / len(numbers)
    except OverflowError:  # A whole number beyond any float.
        return None
