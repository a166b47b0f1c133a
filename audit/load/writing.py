"""Write the select of `describe --write`: known columns, and marked lines to edit."""

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
from audit.options import Reading, write_arguments
from audit.sources.canonical import COLUMNS
from audit.sources.columns import find_list_paths
from audit.sources.containers import CONTAINERS
from audit.sources.files import Source, find_files
from audit.sources.questions import HOLE
from audit.sources.views import Argument, open_views
from audit.text import literal, quoted

# Options of a load that still apply beside a select.
KEPT_OPTIONS = (
    "finished",
    "count_tokens",
    "answer",
    "grade",
    "references",
    "labels",
    "failed",
    "numbers",
)
NO_SELECT = "nothing is written: no select reads these files as the command does"
# Pseudo-paths of a record as SQL expressions.
PSEUDO_PATHS = {"@row": "row_number() over ()", "@file": "parse_filename(filename, true)"}
NO_COLUMNS = (
    "the records lie inside a document, or two kinds of files differ; write a select that "
    "unnests them (audit/sources/README.md has ten), or answer by the options"
)


def write_select(
    path: Path, source: Source, sources: Sequence[str], settled: Settled
) -> Iterator[str]:
    """Write the select of the known columns to a file; yield the lines to print.

    A select without marked lines is tried first, and not written if it loads other rows.
    """
    if source.format not in CONTAINERS:
        yield f"{NO_SELECT} (format {source.format})"
        return
    kept = {name: getattr(settled.reading, name) for name in KEPT_OPTIONS}
    reading = Reading(**kept)
    text = "\n".join(_write_lines(path, source, sources, settled, reading)) + "\n"
    if not (text := _bind_select(text, sources) or ""):
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
    command = ["budget-audit", "load", *sources, "--sql", str(path), *write_arguments(reading)]
    command += open_options
    yield f"{path} is written; {edit}"
    yield f"  {shlex.join(command)}"


def _bind_select(text: str, sources: Sequence[str]) -> str | None:
    """Replace `source` in a select by the first view that has its columns; None if none has."""
    with suppress(AuditError), open_views([Argument(find_files(sources))], {}) as con:
        views = ["source", *_unnest_lists(con.sql("from source"))]
        # With several lists each may hold some of the records, so none is chosen.
        for view in views if len(views) == 2 else views[:1]:
            with suppress(duckdb.Error):
                bound = text.replace("from source", f"from {view}")
                con.sql(bound)
                return bound
    return None


def _unnest_lists(relation: duckdb.DuckDBPyRelation) -> Iterator[str]:
    """Write for each list of objects a select with a row per object and the outer columns."""
    for name, type in zip(relation.columns, relation.types, strict=True):
        item: Any = type.children[0][1] if type.id == "list" else type
        if type.id == "list" and item.id == "struct":
            fields = {field for field, _ in item.children}
            left = [name, "item", *(other for other in relation.columns if other in fields)]
            yield (
                f"(select * exclude ({', '.join(map(quoted, left))}), unnest(item)\n"
                f"      from (select *, unnest({quoted(name)}) as item from source))"
            )


def _write_lines(
    path: Path, source: Source, sources: Sequence[str], settled: Settled, reading: Reading
) -> Iterator[str]:
    """Write the select line by line, with guesses as comments and a mark per open question."""
    full = settled.reading
    lists = find_list_paths(source.mapping | dict(full.mapping))
    beside = shlex.join(["load", *sources, "--sql", path.name, *write_arguments(reading)])
    yield f"-- {path.name}: one row per attempt ({beside})"
    yield "select"
    mapping = source.mapping | dict(full.mapping)
    options = {name: getattr(full, name) for name in ("archive", "competition", "finish_reason")}
    why = {guess.column: guess.why for guess in settled.proposal.guesses}
    asked = {question.column: question for question in settled.proposal.questions}
    for name in (*COLUMNS, *sorted(n for n in mapping if n.startswith("score_"))):
        alias = _quote_path(name)
        if question := asked.get(name):
            found = "; ".join(question.candidates)
            for place, expression in PSEUDO_PATHS.items():
                found = re.sub(rf"(^|; ){place} ", rf"\1{expression} ", found)
            yield f"    null as {alias}, -- {HOLE} {question.words} {' '.join(found.split())}"
        elif (value := options.get(name)) is not None:
            note = f" -- guessed: {why[name]}" if name in why else ""
            yield f"    {literal(value)} as {alias},{note}"
        elif name in mapping and not mapping[name].startswith(("--", "counted", "references")):
            value = _translate_path(name, mapping[name], source)
            note = f" -- guessed: {why[name]}" if name in why else ""
            yield f"    {value} as {alias},{note}"
    yield "    filename,"
    if lists:
        count = f"len({_quote_path(lists[0])})"
        yield f"from (select *, unnest(range(1, {count} + 1)) as attempt from source)"
    else:
        yield "from source"


def _quote_path(path: str) -> str:
    """Quote those parts of a column path that SQL would not take as plain names."""
    return ".".join(
        part
        if re.fullmatch(r"[a-z_][a-z0-9_]*", part) and part not in _list_reserved()
        else quoted(part)
        for part in path.split(".")
    )


@cache
def _list_reserved() -> set[str]:
    """Return the reserved words of DuckDB, which must be quoted as column names."""
    words = "select keyword_name from duckdb_keywords() where keyword_category = 'reserved'"
    with duckdb.connect() as con:
        return {word for (word,) in con.execute(words).fetchall()}


def _translate_path(name: str, path: str, source: Source) -> str:
    """Translate the path of a column, such as `a.b` or `usage~(.+)`, into a SQL expression."""
    if path.startswith("position in "):
        return "attempt - 1"
    if path in PSEUDO_PATHS:
        return PSEUDO_PATHS[path]
    plain, tilde, pattern = path.partition("~")
    if "+" in plain and not tilde:
        parts = (_translate_path(name, part, source) for part in plain.split("+"))
        return " + ".join(f"coalesce({part}, 0)" for part in parts)
    first, star, rest = plain.partition(".*")
    value = _quote_path(plain)
    if star:
        value = f"{_quote_path(first)}[attempt]" + (f".{_quote_path(rest[1:])}" if rest else "")
    if tilde:
        return f"regexp_extract({value}, {literal('^(?:' + pattern + ')$')}, 1)"
    return source.sql_of.get(name, "{}").format(value)
