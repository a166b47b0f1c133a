"""What sources hold and what they lack, before anything is loaded."""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from audit.answers.extract import extract_answers, normal_answers, raw_answers
from audit.errors import AuditError
from audit.load.gate import UNFINISHED
from audit.load.load import check_choices, told
from audit.options import Reading, arguments, takes
from audit.sources import CONTAINERS, Chunk, Source, SourceFile, find_files, shown
from audit.sources.canonical import COLUMNS, is_number, problem_name, read_columns
from audit.sources.columns import Choices
from audit.sources.missing import OPTIONAL, explain, is_answerable, missing_columns
from audit.sources.opening import open_source, readable
from audit.sources.paths import EACH
from audit.sources.proposals import (
    answer_options,
    candidates,
    propose,
    unused_columns,
    values_by_path,
)
from audit.sources.runs import Runs
from audit.sources.stand_ins import listed
from audit.text import visible

NAMES_SHOWN = 6
COLUMNS_SHOWN = 20
TEXTS_LOOKED_AT = 200
# Of each its end, where an answer stands: one text may be as large as memory.
TEXT_END = 20_000
# Names that end in an attempt's number.
SPLIT = re.compile(r"(.+)-\d+")
COUNTS = (
    "finished",
    "answered by box",
    "answered by the log",
    "agreeing",
    "labelled",
    "with references",
)


@dataclass
class Found:
    """What was found in files of one kind: same format, same columns."""

    source: Source
    sample: list[dict[str, Any]]
    files: list[SourceFile] = field(default_factory=list)
    rows: int = 0
    attempts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    finish_reasons: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    # Texts without a box, for who looks for another kind of answer.
    texts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    first: dict[str, Any] = field(default_factory=dict)


@takes
def describe(sources: Sequence[str], *, reading: Reading) -> str:
    """What was detected, column by column, what is missing, and the first record."""
    choices, format = reading, reading.format
    check_choices(choices)
    skipped: list[str] = []
    files = find_files(sources, skipped if choices.skip_unreadable else None)
    if choices.skip_unreadable:
        files = readable(files, format, choices, skipped)
    kinds: dict[tuple[Any, ...], Found] = {}
    runs = Runs(choices.runs)
    for file in files:
        source = open_source(file, format, choices)
        sample = list(source.sample)
        source = runs.apart(source)
        key = (source.format, source.title, *sorted(source.mapping.items()))
        found = kinds.setdefault(key, Found(source, sample))
        found.files.append(file)
        for chunk in source.chunks:
            _count(found, source, chunk, choices)
        found.notes += told(source)
    blocks = []
    for found in kinds.values():
        named = sources if len(kinds) == 1 else [str(file.path) for file in found.files]
        lines = (*_lines(found, choices), *_command(found, choices, format, named))
        blocks.append("\n".join(map(visible, lines)))
    blocks += [visible(f"left out: {reason}") for reason in skipped]
    return "\n\n".join(blocks) + "\n"


def _count(found: Found, source: Source, chunk: Chunk, choices: Choices) -> None:
    keys = (_names(chunk, name) for name in ("archive", "competition", "question_id"))
    found.attempts.update(zip(*keys, strict=True))
    found.rows += len(chunk.rows)
    if "finish_reason" in source.mapping:
        found.finish_reasons.update(_names(chunk, "finish_reason"))
    found.counts["finished"] += sum(value == "stop" for value in listed(chunk, "finish_reason"))
    found.counts["labelled"] += sum(value is not None for value in listed(chunk, "correct"))
    if "references" in source.mapping:
        held = listed(chunk, "references")
        found.counts["with references"] += sum(value not in (None, [], "") for value in held)
    if is_answerable(source.mapping, choices) or "archive_answer" in source.mapping:
        _count_answers(found, source, chunk)
    if not found.first:
        found.first = _first(source, chunk, choices)


def _count_answers(found: Found, source: Source, chunk: Chunk) -> None:
    """Count the answers of each kind; a value that a load refuses is none."""
    wanted = {"text", "boxed_answer", "archive_answer"}
    try:
        columns = read_columns(source, chunk, wanted)
    except AuditError:
        return
    boxes = normal_answers(extract_answers(columns["text"], columns["boxed_answer"])).to_pylist()
    own = columns["archive_answer"].to_pylist()
    found.counts["answered by box"] += sum(box is not None for box in boxes)
    found.counts["answered by the log"] += sum(answer is not None for answer in own)
    found.counts["agreeing"] += sum(
        box is not None and box == answer for box, answer in zip(boxes, own, strict=True)
    )
    if len(found.texts) < TEXTS_LOOKED_AT:
        texts = columns["text"].slice(0, TEXTS_LOOKED_AT).to_pylist()
        pairs = zip(texts, boxes, strict=False)
        found.texts += [text[-TEXT_END:] for text, box in pairs if text is not None and box is None]


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
            pa.array(listed(one, "archive_answer"), pa.string()),
        )
        values["answer"] = normal_answers(raw)[0].as_py()
        if choices.grade is not None and "references" in values:
            values["correct"] = values["answer"] in (values["references"] or [])
    return values


def _lines(found: Found, choices: Choices) -> Iterator[str]:
    source = found.source
    more = f" and {len(found.files) - 1:,} more files" if len(found.files) > 1 else ""
    yield f"{found.files[0].label}{more}"
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
    yield "  counts"
    for name in COUNTS:
        yield f"    {name:20}  {found.counts[name]:,} of {found.rows:,}"
    yield from _advice(found)
    yield "  columns"
    for name in (*COLUMNS, *(name for name in source.mapping if name not in COLUMNS)):
        if name in source.mapping:
            yield f"    {name:18}  from {source.mapping[name]}"
    values = values_by_path(found.sample)
    if source.format in CONTAINERS and (unused := unused_columns(source, values)):
        more = f" and {len(unused) - COLUMNS_SHOWN:,} more" if len(unused) > COLUMNS_SHOWN else ""
        yield f"  unused        {', '.join(unused[:COLUMNS_SHOWN])}{more}"
    yield from _missing(found, choices, values)
    yield from _split(found, sizes)
    for note in found.notes:
        yield f"  note: {note}"
    yield "  first record"
    for name, value in found.first.items():
        yield f"    {name:18}  {_short(value)}"


def _advice(found: Found) -> Iterator[str]:
    """What a load would refuse although every column is there, and what settles it."""
    if found.finish_reasons and not found.counts["finished"]:
        could_be = [name for name in found.finish_reasons if name not in UNFINISHED]
        option = f"; pass --finished {','.join(could_be)}" if could_be else ""
        yield f"  note: no attempt counts as finished{option}"
    if found.rows and not found.counts["answered by box"]:
        options = answer_options(found.texts, found.counts["answered by the log"])
        if options:
            yield f"  note: no text has a box; pass {' or '.join(options)}"


def _missing(found: Found, choices: Choices, values: dict[str, list[Any]]) -> Iterator[str]:
    source = found.source
    missing = missing_columns(source, choices)
    if missing:
        yield "  missing: load refuses this until it is settled"
        for name in missing:
            yield f"    {explain(source, name)}"
            yield from _could_be(found, name, values)
    absent = [name for name in OPTIONAL if name not in source.mapping and name not in missing]
    if absent:
        yield "  absent: load goes on without"
        for name in absent:
            yield f"    {explain(source, name)}"
            yield from _could_be(found, name, values)


def _could_be(found: Found, column: str, values: dict[str, list[Any]]) -> Iterator[str]:
    """The columns that could be a missing one, as options."""
    if found.source.format not in CONTAINERS:
        return
    free = {path: values[path] for path in unused_columns(found.source, values)}
    each = next((o for o in found.source.mapping.values() if EACH in o.split(".")), None)
    for path in candidates(column, free, each):
        yield f"      could be: --map {shlex.quote(f'{column}={path}')}"


def _split(found: Found, sizes: list[int]) -> Iterator[str]:
    """Where every problem has one attempt, its name may number attempts."""
    names = {name for _, _, name in found.attempts}
    if sizes != [1] or len(names) < 2 or not found.source.is_labelled:
        return
    parts = [SPLIT.fullmatch(name) for name in names]
    if any(is_number(name) for name in names) or not all(parts):
        return
    # Numbers of problems have one name before them; numbers of attempts have several.
    if 1 < len({part[1] for part in parts if part}) < len(names):
        origin = found.source.mapping["question_id"].split(",")[0]
        yield (
            "  note: every problem has one attempt; if these names number attempts, split them: "
            f"--map 'question_id={origin}~(.+)-\\d+' --map 'seed={origin}~.+-(\\d+)'"
        )


def _command(
    found: Found, choices: Choices, format: str | None, sources: Sequence[str]
) -> Iterator[str]:
    """The whole command that loads this, where that is plain."""
    settled = choices
    if missing_columns(found.source, choices):
        proposed = propose(found.source, found.sample, choices, found.files)
        if proposed is None:
            return
        settled = proposed
        found = _under(found, settled, format)
    if len(sources) > NAMES_SHOWN:
        return
    parts = ["budget-audit", "load", *map(str, sources)]
    parts += arguments(settled)
    if settled.answer == "boxed" and found.rows and not found.counts["answered by box"]:
        options = answer_options(found.texts, found.counts["answered by the log"])
        parts += shlex.split(options[0]) if options else []
    if found.finish_reasons and not found.counts["finished"]:
        could_be = [name for name in found.finish_reasons if name not in UNFINISHED]
        parts += ["--finished", ",".join(could_be)] if could_be else []
    yield "  load it with"
    yield f"    {shlex.join(parts)}"


def _under(found: Found, choices: Choices, format: str | None) -> Found:
    """What the first rows hold under other choices."""
    source = open_source(found.files[0], format, choices)
    tried = Found(source, [], found.files)
    _count(tried, source, next(source.chunks), choices)
    return tried


def _listing(names: Iterable[str]) -> str:
    found = sorted(set(names))
    more = f" and {len(found) - NAMES_SHOWN:,} more" if len(found) > NAMES_SHOWN else ""
    return ", ".join(found[:NAMES_SHOWN]) + more


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else shown(value)
    line = " ".join(text.split())
    return line if len(line) <= 90 else f"{line[:42]} … {line[-42:]}"
