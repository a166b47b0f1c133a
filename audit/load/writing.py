"""The select that `describe --write` leaves: what is known plain, the rest marked for an edit."""

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from audit.errors import AuditError
from audit.load.settling import Settled
from audit.load.trial import try_load
from audit.options import Reading, arguments
from audit.sources.canonical import COLUMNS
from audit.sources.columns import lists_in
from audit.sources.containers import CONTAINERS
from audit.sources.files import Source, find_files
from audit.sources.questions import HOLE
from audit.sources.views import Argument, open_views
from audit.text import literal, quoted

# What the options of a load say beside a select.
BESIDE = (
    "finished",
    "count_tokens",
    "answer",
    "grade",
    "references",
    "labels",
    "failed",
    "numbers",
)
NO_SELECT = "nothing is written: the command is enough, and no select says the same"
# What places of a record are in SQL.
PLACES = {"@row": "row_number() over ()", "@file": "parse_filename(filename, true)"}
NO_COLUMNS = (
    "the records lie inside a document, or two kinds of files differ; write a select that "
    "unnests them (audit/sources/README.md has ten), or answer by the options"
)


def write_select(
    path: Path, source: Source, sources: Sequence[str], settled: Settled
) -> Iterator[str]:
    """Write the select of what is known; one without holes is tried, and not kept if it differs."""
    if source.format not in CONTAINERS:
        yield f"{NO_SELECT} (format {source.format})"
        return
    kept = {name: getattr(settled.reading, name) for name in BESIDE}
    reading = Reading(**kept)
    text = "\n".join(_lines(path, source, sources, settled, reading)) + "\n"
    if not (text := _bind(text, sources) or ""):
        yield f"nothing is written: {NO_COLUMNS}"
        return
    if not settled.proposal.questions:
        trial = try_load(sources, replace(reading, sql=text))
        if trial.refusal or (trial.counts != settled.trial.counts and settled.trial.is_whole):
            yield NO_SELECT
            return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AuditError(f"--write {path}: cannot be written: {error.strerror}") from None
    holes = text.count(f"-- {HOLE}")
    edit = f"edit its {holes} marked lines, then" if holes else "load it with"
    open_options = [
        word
        for question in settled.proposal.questions
        if question.column not in COLUMNS
        for word in question.option
    ]
    if open_options:
        edit = f"{edit.removesuffix(' with').removesuffix(', then')}, and say what {HOLE} is:"
    command = ["budget-audit", "load", *sources, "--sql", str(path), *arguments(reading)]
    command += open_options
    yield f"{path} is written; {edit}"
    yield f"  {shlex.join(command)}"


def _bind(text: str, sources: Sequence[str]) -> str | None:
    """Return a select with a view that has its columns: the source, or the records in its list."""
    with suppress(AuditError), open_views([Argument(find_files(sources))], {}) as con:
        views = ["source", *_records_in(con.sql("from source"))]
        # Of several lists each may hold some of the records.
        for view in views if len(views) == 2 else views[:1]:
            with suppress(duckdb.Error):
                bound = text.replace("from source", f"from {view}")
                con.sql(bound)
                return bound
    return None


def _records_in(relation: duckdb.DuckDBPyRelation) -> Iterator[str]:
    """Yield the select of the objects in each list of a source, with what stands around them."""
    for name, type in zip(relation.columns, relation.types, strict=True):
        item: Any = type.children[0][1] if type.id == "list" else type
        if type.id == "list" and item.id == "struct":
            own = {field for field, _ in item.children}
            left = [name, "item", *(other for other in relation.columns if other in own)]
            yield (
                f"(select * exclude ({', '.join(map(quoted, left))}), unnest(item)\n"
                f"      from (select *, unnest({quoted(name)}) as item from source))"
            )


def _lines(
    path: Path, source: Source, sources: Sequence[str], settled: Settled, reading: Reading
) -> Iterator[str]:
    """Return the lines of the select."""
    full = settled.reading
    lists = lists_in(source.mapping | dict(full.mapping))
    beside = shlex.join(["load", *sources, "--sql", path.name, *arguments(reading)])
    yield f"-- {path.name}: one row per attempt ({beside})"
    yield "select"
    mapping = source.mapping | dict(full.mapping)
    options = {"archive": full.archive, "competition": full.competition}
    options["finish_reason"] = full.finish_reason
    why = {guess.column: guess.why for guess in settled.proposal.guesses}
    asked = {question.column: question for question in settled.proposal.questions}
    for name in (*COLUMNS, *sorted(n for n in mapping if n.startswith("score_"))):
        alias = _column(name)
        if question := asked.get(name):
            found = "; ".join(question.candidates)
            for place, expression in PLACES.items():
                found = re.sub(rf"(^|; ){place} ", rf"\1{expression} ", found)
            yield f"    null as {alias}, -- {HOLE} {question.words} {' '.join(found.split())}"
        elif (value := options.get(name)) is not None:
            note = f" -- guessed: {why[name]}" if name in why else ""
            yield f"    {literal(value)} as {alias},{note}"
        elif name in mapping and not mapping[name].startswith(("--", "counted", "references")):
            value = _expression(name, mapping[name], source)
            note = f" -- guessed: {why[name]}" if name in why else ""
            yield f"    {value} as {alias},{note}"
    yield "    filename,"
    if lists:
        count = f"len({_column(lists[0])})"
        yield f"from (select *, unnest(range(1, {count} + 1)) as attempt from source)"
    else:
        yield "from source"


def _column(path: str) -> str:
    return ".".join(
        part
        if re.fullmatch(r"[a-z_][a-z0-9_]*", part) and part not in _reserved()
        else quoted(part)
        for part in path.split(".")
    )


@cache
def _reserved() -> set[str]:
    """Return the words that name no column unless they are quoted."""
    words = "select keyword_name from duckdb_keywords() where keyword_category = 'reserved'"
    with duckdb.connect() as con:
        return {word for (word,) in con.execute(words).fetchall()}


def _expression(name: str, path: str, source: Source) -> str:
    """Return what a path is in SQL."""
    if path.startswith("position in "):
        return "attempt - 1"
    if path in PLACES:
        return PLACES[path]
    plain, tilde, pattern = path.partition("~")
    if "+" in plain and not tilde:
        parts = (_expression(name, part, source) for part in plain.split("+"))
        return " + ".join(f"coalesce({part}, 0)" for part in parts)
    first, star, rest = plain.partition(".*")
    value = _column(plain)
    if star:
        value = f"{_column(first)}[attempt]" + (f".{_column(rest[1:])}" if rest else "")
    if tilde:
        return f"regexp_extract({value}, {literal('^(?:' + pattern + ')$')}, 1)"
    return source.sql_of.get(name, "{}").format(value)
