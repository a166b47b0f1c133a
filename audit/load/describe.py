"""What sources hold and what they lack, before anything is loaded."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from audit.answers.extract import normal_answers, raw_answers
from audit.errors import AuditError
from audit.load.load import check_choices, told
from audit.sources import Chunk, Source, find_files, shown
from audit.sources.canonical import COLUMNS, problem_name, read_columns
from audit.sources.columns import Choices
from audit.sources.missing import OPTIONAL, explain, is_answerable, missing_columns
from audit.sources.opening import open_source
from audit.sources.stand_ins import listed
from audit.text import visible

NAMES_SHOWN = 6


@dataclass
class Found:
    """What was found in files of one kind: same format, same columns."""

    source: Source
    files: list[str] = field(default_factory=list)
    rows: int = 0
    attempts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    finish_reasons: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    first: dict[str, Any] = field(default_factory=dict)


def describe(sources: Sequence[str], format: str | None = None, **options: Any) -> str:
    """What was detected, column by column, what is missing, and the first record."""
    choices = Choices(**options)
    check_choices(format, choices)
    kinds: dict[tuple[Any, ...], Found] = {}
    for file in find_files(sources):
        source = open_source(file, format, choices)
        key = (source.format, source.title, *sorted(source.mapping.items()))
        found = kinds.setdefault(key, Found(source))
        found.files.append(file.label)
        for chunk in source.chunks:
            _count(found, source, chunk, choices)
        found.notes += told(source)
    blocks = ("\n".join(map(visible, _lines(found, choices))) for found in kinds.values())
    return "\n\n".join(blocks) + "\n"


def _count(found: Found, source: Source, chunk: Chunk, choices: Choices) -> None:
    keys = (_names(chunk, name) for name in ("archive", "competition", "question_id"))
    found.attempts.update(zip(*keys, strict=True))
    found.rows += len(chunk.rows)
    if "finish_reason" in source.mapping:
        found.finish_reasons.update(_names(chunk, "finish_reason"))
    if not found.first:
        found.first = _first(source, chunk, choices)


def _names(chunk: Chunk, column: str) -> Iterator[str]:
    """Values as they can be counted and printed; a load checks them."""
    for value in listed(chunk, column):
        try:
            yield "?" if value is None else problem_name(value)
        except ValueError:
            yield shown(value)


def _first(source: Source, chunk: Chunk, choices: Choices) -> dict[str, Any]:
    """The first record as it would be loaded, as far as it goes."""
    one = Chunk({name: listed(chunk, name)[:1] for name in source.mapping}, chunk.rows[:1], 0)
    try:
        columns = read_columns(source, one, source.mapping)
    except AuditError as error:
        return {"refused": str(error)}
    values = {name: column[0].as_py() for name, column in columns.items() if name in source.mapping}
    if is_answerable(source.mapping, choices):
        raw = raw_answers(
            choices.answer,
            columns["text"],
            columns["boxed_answer"],
            lambda: listed(one, "archive_answer"),
        )
        values["answer"] = normal_answers(raw)[0].as_py()
        if choices.grade is not None and "references" in values:
            values["correct"] = values["answer"] in (values["references"] or [])
    return values


def _lines(found: Found, choices: Choices) -> Iterator[str]:
    source = found.source
    more = f" and {len(found.files) - 1:,} more files" if len(found.files) > 1 else ""
    yield f"{found.files[0]}{more}"
    yield f"  format        {source.format}: {source.title}"
    for title, place in (("archives", 0), ("competitions", 1)):
        yield f"  {title:12}  {_listing(key[place] for key in found.attempts)}"
    problems = sorted({key[1:] for key in found.attempts})
    yield f"  problems      {len(problems):,}: {_listing(name for _, name in problems)}"
    sizes = sorted(set(found.attempts.values()))
    each = f"{sizes[0]:,} to {sizes[-1]:,}" if len(sizes) > 1 else f"{sizes[0]:,}" if sizes else "0"
    yield f"  attempts      {found.rows:,}: {each} for each problem and archive"
    if found.finish_reasons:
        reasons = ", ".join(
            f"{name} {count:,}" for name, count in found.finish_reasons.most_common()
        )
        yield f"  finished      {reasons}"
    yield "  columns"
    for name in COLUMNS:
        if name in source.mapping:
            yield f"    {name:18}  from {source.mapping[name]}"
    yield from _missing(source, choices, sizes)
    for note in found.notes:
        yield f"  note: {note}"
    yield "  first record"
    for name, value in found.first.items():
        yield f"    {name:18}  {_short(value)}"


def _missing(source: Source, choices: Choices, sizes: list[int]) -> Iterator[str]:
    missing = missing_columns(source, choices)
    if missing:
        yield "  missing: load refuses this until it is settled"
        for name in missing:
            yield f"    {explain(source, name)}"
    absent = [name for name in OPTIONAL if name not in source.mapping and name not in missing]
    if absent:
        yield "  absent: load goes on without"
        for name in absent:
            yield f"    {explain(source, name)}"
    if sizes == [1] and source.is_labelled:
        origin = source.mapping["question_id"].split(",")[0]
        yield (
            "  note: every problem has one attempt; if these names number attempts, split them: "
            f"--map 'question_id={origin}~(.+)-\\d+' --map 'seed={origin}~.+-(\\d+)'"
        )


def _listing(names: Iterable[str]) -> str:
    found = sorted(set(names))
    more = f" and {len(found) - NAMES_SHOWN:,} more" if len(found) > NAMES_SHOWN else ""
    return ", ".join(found[:NAMES_SHOWN]) + more


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else shown(value)
    line = " ".join(text.split())
    return line if len(line) <= 90 else f"{line[:42]} … {line[-42:]}"
