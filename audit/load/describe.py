"""What sources hold, whether they load, and the command that loads them; nothing is written.

What is printed was tried: the files' beginnings are read and held to the gate of a load, in memory.
"""

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import duckdb

from audit.answers.extract import NO_ANSWER
from audit.answers.normal_form import number_form
from audit.engine import render
from audit.errors import AuditError
from audit.load.gate import UNFINISHED
from audit.load.load import ONCE, TWO_RUNS, check_reading, load
from audit.load.provenance import COUNTED
from audit.options import Reading, arguments, takes
from audit.sources.canonical import COLUMNS
from audit.sources.containers import CONTAINERS
from audit.sources.files import Source, SourceFile, Unreadable, excerpt
from audit.sources.formats import formats
from audit.sources.missing import NEEDS, OPTIONAL, explain, missing_columns
from audit.sources.opening import open_source, readable_files
from audit.sources.proposals import (
    NOTHING_TO_VOTE_ON,
    PATTERNS,
    Guess,
    Values,
    candidates,
    is_listed,
    propose,
    unused_paths,
)
from audit.sources.readers.parquet import first_records
from audit.text import plural, visible

REFUSED = "this does not load, because "
LINES = 20
WIDTH = 100
NAMES_SHOWN = 20
# How many files are read to find their kinds; all files are tried.
FILES_PEEKED = 32
# So many bytes are tried, over all files; what is smaller is tried whole.
TRIED_BYTES = 8_000_000
LEAST_BYTES = 50_000
KINDS_SHOWN = 3
# An answer of another kind is proposed where boxes give less than this share of the best.
MUCH = 0.9
BY_ROWS = "attempts in the order of the rows: the log numbers none"
SHARED = "attempts from the numbers of names that share one prompt"
ALONE = "each name is taken for a problem: if it numbers attempts, split it as said below"
FAILED = "attempts without text and tokens are kept as unfinished; --failed drop drops them"
DECIMALS = "decimals compared as numbers, because {} and {} are answers to one problem"
REASONED = ("completion_tokens", "reasoning_tokens")
# Columns that are not required, and whose absence is told all the same.
MATTERS = ("references", "prompt_tokens")


@dataclass
class Trial:
    """A load of the files' beginnings: what it holds, or why it is refused."""

    refusal: str | None = None
    mapping: dict[str, str] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)
    record: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    texts: list[str] = field(default_factory=list)
    # What parts the problems' names from numbers, and whether those are of attempts.
    split: dict[str, Any] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    # Checks of costs and answers that do not pass.
    warned: list[dict[str, Any]] = field(default_factory=list)
    # Two answers of a problem, or an answer and its reference, that are one number.
    alike: tuple[str, ...] = ()
    # Whether all of the files was read, and whether it passed the gate.
    is_whole: bool = True
    is_fit: bool = False


@takes
def describe(sources: Sequence[str], *, all: bool = False, reading: Reading) -> str:
    """Whether sources load, with what command, and what they hold under it."""
    check_reading(reading)
    files, skipped = readable_files(sources, reading)
    try:
        kinds = _kinds(files, reading)
    except Unreadable:
        raise
    except AuditError as error:
        return visible(f"{REFUSED}{error}") + "\n"
    if len(kinds) > 1:
        # Files of one tool may differ in what they lack, and load with one command all the same.
        together = [peek for peeks, _ in kinds for peek in peeks]
        if not _settle(together, files, reading)[2].refusal:
            kinds = [(together, files)]
    chosen = kinds if all else kinds[:KINDS_SHOWN]
    more = [f"left out: {reason}" for reason in (skipped if all else skipped[:KINDS_SHOWN])]
    if len(skipped) > len(more):
        more.append(f"and {len(skipped) - len(more):,} more files were left out")
    if len(kinds) > len(chosen):
        more.append(f"and {len(kinds) - len(chosen):,} more kinds of files: --all shows them")
    # Blocks share the lines that are left, with a blank one between them.
    room = (LINES + 1 - len(more) - bool(more)) // len(chosen) - 1
    blocks = []
    for peeks, members in chosen:
        paths = list(sources) if len(kinds) == 1 else [str(file.path) for file in members]
        lines = _block(peeks, members, paths, reading, None if all else room)
        blocks.append("\n".join(visible(_cut(line)) for line in lines))
    blocks += ["\n".join(map(visible, more))] if more else []
    return "\n\n".join(blocks) + "\n"


def _cut(line: str) -> str:
    """A line as long as a terminal is wide; the verdict and the command stay whole."""
    is_whole = line.startswith(("  budget-audit ", "this ")) or len(line) <= WIDTH
    return line if is_whole else line[: WIDTH - 1] + "…"


def _kinds(
    files: Sequence[SourceFile], reading: Reading
) -> list[tuple[list[Source], list[SourceFile]]]:
    """Files by kind, the same format and columns; those not looked into are of the last one's."""
    kinds: dict[Any, tuple[list[Source], list[SourceFile]]] = {}
    last = None
    for number, file in enumerate(files):
        if number < FILES_PEEKED or last is None:
            source = _peek(file, reading)
            last = (source.format, source.title, *sorted(source.mapping.items()))
            kinds.setdefault(last, ([], []))[0].append(source)
        kinds[last][1].append(file)
    return list(kinds.values())


def _peek(file: SourceFile, reading: Reading) -> Source:
    """An open file with its first records; of Parquet a load looks into some columns alone."""
    source = open_source(file, reading)
    is_parquet = source.format == "parquet"
    return replace(source, sample=first_records(file)) if is_parquet else source


def _block(
    peeks: list[Source],
    files: list[SourceFile],
    sources: list[str],
    reading: Reading,
    room: int | None,
) -> Iterator[str]:
    """The verdict, the command, a record, counts and what is absent, in at most `room` lines."""
    # Where kinds of files share the lines, counts say more than a record.
    is_brief = room is not None and room < LINES // 2
    settled, guesses, trial = _settle(peeks, files, reading)
    source = peeks[0]
    if trial.refusal:
        with suppress(AuditError):
            source = open_source(files[0], settled)
    else:
        source = replace(source, mapping=trial.mapping)
    # Names can be looked at although labels are refused.
    unlabelled = replace(settled, grade=None, references=None, force=True)
    names = trial if not trial.refusal else _try(files, unlabelled)
    lines = [*_verdict(source, trial, settled, guesses)]
    if not trial.refusal:
        lines += _loading(sources, settled, guesses)
        lines += [] if is_brief else _record(trial)
        lines += _held(trial, files, source)
    lines += _numbered(names, source, settled)
    lines += _absent(peeks, source, trial, settled)
    if room is None:
        yield from lines
        yield from _everything(peeks, source, settled)
    elif len(lines) > room:
        yield from lines[: room - 1]
        yield f"… {len(lines) - room + 1:,} more lines: --all shows them"
    else:
        yield from lines


def _settle(
    peeks: list[Source], files: list[SourceFile], reading: Reading
) -> tuple[Reading, list[Guess], Trial]:
    """Options under which files load, what was guessed for them, and the load that was tried."""
    try:
        settled, guesses = propose(peeks, files, reading)
        if any(
            is_listed(settled.mapping[name]) for name in settled.mapping.keys() - reading.mapping
        ):
            # Attempts in a list have their own columns: what a row says once may be none of them.
            peeks = [_peek(peek.file, settled) for peek in peeks]
            settled, more = propose(peeks, files, settled)
            guesses += [guess for guess in more if guess not in guesses]
    except AuditError as error:
        return reading, [], Trial(refusal=str(error))

    def take(guess: Guess, *, force: bool = False, **options: Any) -> Trial:
        """Settle options by a guess, and try what comes of it."""
        nonlocal settled
        settled = replace(settled, **options)
        guesses.append(guess)
        return _try(files, replace(settled, force=True) if force else settled)

    trial = _try(files, settled)
    if trial.refusal and "--failed" in trial.refusal:
        trial = take(Guess("failed", FAILED), failed="count")
    if _is_repeated(trial, peeks, settled):
        trial = take(Guess("seed", BY_ROWS), mapping={**settled.mapping, "seed": "@row"})
    if trial.refusal:
        trial = _try(files, replace(settled, force=True))
    if not trial.refusal and (finished := _finished(trial, settled)):
        guess = Guess("finished", f"{', '.join(finished)} counted as finished")
        trial = take(guess, finished=finished, force=True)
    if trial.refusal:
        return settled, guesses, trial
    if settled.answer == "boxed" and (kind := _other_answer(trial, peeks[0].format, settled)):
        trial = take(kind, answer=kind.what)
    if (split := _split(trial, peeks[0], settled)) and trial.split["is_of_attempts"]:
        trial = take(Guess("seed", SHARED), mapping={**settled.mapping, **split})
    elif split and trial.split["is_of_attempts"] is None:
        guesses.append(Guess("seed", ALONE))
    if trial.alike and not settled.numbers and not trial.refusal:
        trial = take(Guess("numbers", DECIMALS.format(*trial.alike)), numbers=True)
    elif not trial.is_fit:
        trial = _try(files, settled)
    return settled, guesses, trial


def _is_repeated(trial: Trial, peeks: Sequence[Source], reading: Reading) -> bool:
    """Whether a file repeats attempts of which no column of its own is the number."""
    if not trial.refusal or ONCE not in trial.refusal or TWO_RUNS in trial.refusal:
        return False
    values, mapping = Values(peeks), peeks[0].mapping | dict(reading.mapping)
    seed, problem = mapping.get("seed", ""), mapping.get("question_id")
    if seed not in values.by_path:
        return True
    # A number that differs only between problems numbers the problems, not their attempts.
    return values.is_same_within(seed, problem) and values.is_same_within(problem or "", seed)


def _try(files: Sequence[SourceFile], reading: Reading) -> Trial:
    """Load the beginnings of files into memory, through the gate of a load."""
    share = TRIED_BYTES / max(sum(file.bytes for file in files), 1)
    files = [
        replace(f, sample=max(int(share * f.bytes), LEAST_BYTES) if share < 1 else f.bytes)
        for f in files
    ]
    try:
        with duckdb.connect() as con:
            con.execute("set threads = 2")
            loaded = load(con, files, reading=replace(reading, skip_unreadable=False))
            facts = con.sql(render("trial")).to_arrow_table().to_pylist()[0]
            return Trial(
                mapping=json.loads(facts.pop("mapping")),
                notes=loaded.notes,
                alike=_decimals(con),
                is_whole=share >= 1,
                is_fit=not reading.force,
                **facts,
            )
    except AuditError as error:
        return Trial(refusal=str(error))


def _decimals(con: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """Two forms of one problem that differ as 160.0 and 160 do, if there are any."""
    forms: dict[tuple[Any, ...], str] = {}
    for competition, problem, form in con.execute(render("trial_decimals")).fetchall():
        number = number_form(form)
        first = forms.setdefault((competition, problem, number), form)
        if first != form:
            return first, form
    return ()


def _finished(trial: Trial, reading: Reading) -> tuple[str, ...]:
    """The finish reasons that may mean stop, where no attempt counts as finished."""
    if trial.counts["finished"] or reading.finished:
        return ()
    return tuple(r for r in trial.reasons if r.strip().lower() not in UNFINISHED)


def _other_answer(trial: Trial, format: str, reading: Reading) -> Guess | None:
    """Another kind of answer, where it gives many more attempts one than a box does."""
    counts = trial.counts
    finished = max(counts["finished"], 1)
    shares = {"archive": counts["own"] / finished} if counts["own"] else {}
    for pattern in PATTERNS:
        if matches := sum(re.search(pattern, text) is not None for text in trial.texts):
            shares[f"regex:{pattern}"] = matches / len(trial.texts)
    boxed = counts["pickable"] / finished
    best = max(shares, key=lambda kind: shares[kind], default="boxed")
    if shares.get(best, 0) >= 0.5 and boxed < MUCH * shares[best]:
        return Guess(best, f"answers by {best}: {shares[best]:.0%} have one, and a box {boxed:.0%}")
    is_run = counts["steps"] or (format in formats() and not formats()[format].has_answers)
    if not boxed and reading.grade is None and (counts["labelled"] == counts["attempts"] or is_run):
        return Guess(NO_ANSWER, NOTHING_TO_VOTE_ON)
    return None


def _verdict(
    source: Source, trial: Trial, reading: Reading, guesses: Sequence[Guess]
) -> Iterator[str]:
    """Whether this loads, and by which guess, or why it does not."""
    if trial.refusal:
        is_missing = "missing column" in trial.refusal
        missing = missing_columns(source, reading) if is_missing else []
        explained = [explain(source, name) for name in missing]
        if len(missing) > 2 and {"question_id", "completion_tokens"} <= set(missing):
            lacks = ", ".join(f"no {NEEDS[name].what}" for name in missing)
            explained = [f"no attempts are found: {lacks}; --map COLUMN=PATH names what is there"]
        yield f"{REFUSED}{'; '.join(explained) or trial.refusal}"
        return
    serious = [guess for guess in guesses if guess.is_serious]
    if not serious:
        yield "this loads"
        return
    label = [guess for guess in serious if guess.what in ("correct", "grade")]
    first = (label or serious)[0]
    others = len(serious) - 1
    more = f", and {others:,} more guess{'es' if others > 1 else ''} below" if others else ""
    if first.what == "correct":
        column = reading.mapping["correct"]
        yield f"this loads, but the label was guessed from column {column}{more}"
    else:
        yield f"this loads, but by a guess: {first.why}{more}"


def _loading(paths: Sequence[str], reading: Reading, guesses: Sequence[Guess]) -> Iterator[str]:
    """The command, each guess in it in words, and names, which change no number, in one line."""
    if len(paths) > NAMES_SHOWN:
        yield f"  {len(paths):,} files of this kind, such as {paths[0]}; put them in a folder of"
        yield f"  their own, and load that with {shlex.join(arguments(reading)) or 'no option'}"
    else:
        yield f"  {shlex.join(['budget-audit', 'load', *paths, *arguments(reading)])}"
    for guess in guesses:
        if guess.is_serious:
            yield f"  guessed: {guess.why}"
    if names := [guess.why for guess in guesses if not guess.is_serious]:
        yield f"  named: {'; '.join(names)}"


def _record(trial: Trial) -> Iterator[str]:
    """The first record, as read under the command."""
    record = trial.record
    problem = record["name"] if record["name"] is not None else record["question_id"]
    label = {None: "no label", True: "right", False: "wrong"}[record["correct"]]
    yield "first record"
    yield (
        f"  archive {_short(record['archive'])}, competition {_short(record['competition'])}, "
        f"problem {_short(problem)}, attempt {record['seed']}"
    )
    answer = "no answer" if record["answer"] is None else f"answer {_short(record['answer'])}"
    yield (
        f"  {record['completion_tokens']:,} tokens, finish reason "
        f"{_short(record['finish_reason'])}, {answer}, {label}"
    )
    if record["text"]:
        line = " ".join(record["text"].split())
        yield f"  text {line if len(line) <= 80 else f'{line[:38]} … {line[-38:]}'}"


def _held(trial: Trial, files: Sequence[SourceFile], source: Source) -> Iterator[str]:
    """The counts, and what is noted and warned of, under the command."""
    counts = trial.counts
    many = f"{len(files):,} files, " if len(files) > 1 else ""
    part = "" if trial.is_whole else " (of the beginning that was tried)"
    least, most = counts["least"], counts["most"]
    sizes = f"{least:,} to {most:,} attempts" if most > least else plural(most, "attempt")
    yield f"counts{part}: {many}format {source.format}"
    yield (
        f"  {plural(counts['attempts'], 'attempt')}: {plural(counts['archives'], 'archive')}, "
        f"{plural(counts['problems'], 'problem')}, {sizes} each"
    )
    total = counts["attempts"]
    yield (
        f"  finished {_share(counts['finished'], total)}, answered "
        f"{_share(counts['answered'], total)}, "
        + (f"right {_share(counts['correct'], total)}" if counts["labelled"] else "no labels")
    )
    for note in trial.notes:
        yield f"  note: {note}"
    for check, count, total in map(dict.values, trial.warned):
        paths = [source.mapping.get(name, "") for name in REASONED]
        has_option = check == "reasoning_not_counted" and not paths[0].startswith(COUNTED)
        option = f": --map completion_tokens={'+'.join(paths)}" if has_option else ""
        yield f"  warns: {check} in {count:,} of {total:,}{option}"


def _split(trial: Trial, source: Source, reading: Reading) -> dict[str, str]:
    """The mapping that takes numbers off the problems' names, where they may be attempts'."""
    origin = reading.mapping.get("question_id", source.mapping.get("question_id", "@"))
    origin = origin.split(",")[0]
    if trial.refusal or trial.counts["most"] > 1 or "~" in origin or origin.startswith("@"):
        return {}
    mark = trial.split["mark"]
    if not mark:
        return {}
    return {
        "question_id": rf"{origin}~(.+){mark}\d+",
        "seed": rf"{origin}~.+{mark}(\d+)",
    }


def _numbered(trial: Trial, source: Source, reading: Reading) -> Iterator[str]:
    """Where every problem has one attempt, its name may number attempts."""
    if (split := _split(trial, source, reading)) and trial.split["is_of_attempts"] is None:
        yield "note: every problem has one attempt; if these names number attempts, split them:"
        options = (shlex.join(("--map", f"{name}={path}")) for name, path in split.items())
        yield f"  {' '.join(options)}"


def _share(count: int, total: int) -> str:
    return f"{count:,} ({100 * count / max(total, 1):.0f} %)"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else excerpt(value)
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:19]} … {line[-18:]}"


def _absent(
    peeks: Sequence[Source], source: Source, trial: Trial, reading: Reading
) -> Iterator[str]:
    """What is absent and matters, or what could settle a refusal."""
    mapped = source.mapping.keys() | reading.mapping.keys()
    if trial.refusal:
        values = Values(peeks)
        free = unused_paths(source.mapping | dict(reading.mapping), values)
        for name in missing_columns(source, reading):
            for path in candidates(name, values, free, None)[:3]:
                yield f"  could be: --map {shlex.quote(f'{name}={path}')}"
        return
    if not trial.counts["labelled"]:
        yield f"absent: {explain(source, 'correct')}"
    for name in MATTERS:
        is_compared = name != "references" or reading.answer != NO_ANSWER
        if name not in mapped and is_compared:
            yield f"absent: {NEEDS[name].what}: {NEEDS[name].cost}"


def _everything(peeks: Sequence[Source], source: Source, reading: Reading) -> Iterator[str]:
    """Every column with its origin, what is unused, what is absent and what could be it."""
    mapping = source.mapping | dict(reading.mapping)
    yield f"columns of {source.file.shown_name} ({source.title})"
    # Scores go by any name.
    for name in (*COLUMNS, *sorted(mapping.keys() - COLUMNS.keys())):
        if name in mapping:
            yield f"  {name:18}  from {mapping[name]}"
    values = Values(peeks)
    free = unused_paths(mapping, values)
    if source.format in CONTAINERS and free:
        yield f"  unused              {', '.join(free)}"
    for name in (*missing_columns(source, reading), *OPTIONAL):
        if name not in mapping:
            yield f"  {explain(source, name)}"
            for path in candidates(name, values, free, None):
                yield f"    could be: --map {shlex.quote(f'{name}={path}')}"
