"""Describe sources: whether they load, with which command, and what they hold.

The first line is the verdict: `loads`; `loads, if this is right:` with guesses that decide a
number; or `does not load yet:` with questions. The command was tried: the beginnings of the files
were loaded with it, in memory.
"""

import glob
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from audit.answers.extract import NO_ANSWER
from audit.errors import AuditError
from audit.load.load import check_reading
from audit.load.provenance import COUNTED
from audit.load.settling import Settled, settle
from audit.load.trial import Trial, try_load
from audit.load.writing import write_select
from audit.options import Reading, read_options, write_arguments
from audit.sources.canonical import COLUMNS
from audit.sources.columns import remove_suffix
from audit.sources.containers import CONTAINERS
from audit.sources.files import Source, SourceFile, Unreadable, excerpt
from audit.sources.missing import NEEDS, OPTIONAL, explain_missing, find_missing_columns
from audit.sources.opening import find_readable_files, limit_files, open_source
from audit.sources.questions import Question
from audit.sources.selects import is_selected
from audit.text import plural, visible

LOADS, IF_RIGHT, NOT_YET = "loads", "loads, if this is right:", "does not load yet:"
LINES = 20
WIDTH = 100
NAMES_SHOWN = 20
# How many files are read to find their kinds; all files are tried.
FILES_PEEKED = 32
KINDS_SHOWN = 3
REASONED = ("completion_tokens", "reasoning_tokens")
# Columns that are not required, and are reported all the same when missing.
MATTERS = ("references", "prompt_tokens")


def describe(
    sources: Sequence[Any],
    *,
    all: bool = False,
    write: str | None = None,
    reading: Reading | None = None,
    **options: Any,
) -> str:
    """Say whether sources load, with which command, and what they hold.

    Pass a `reading`, or its options one by one. `write` names a file for the select.
    """
    reading = reading or read_options(Reading, options)
    check_reading(reading)
    if is_selected(sources, reading):
        return _describe_select(sources, reading)
    files, skipped = find_readable_files(sources, reading)
    files = limit_files(files)
    try:
        kinds, reading, questions = _ask_about_columns(files, reading)
    except Unreadable:
        raise
    except AuditError as error:
        return visible(f"{NOT_YET} {error}") + "\n"
    settled = [settle(peeks, members, reading) for peeks, members in kinds]
    if len(kinds) > 1:
        # Files of one tool may lack different columns, and still load with one command.
        together = [peek for peeks, _ in kinds for peek in peeks]
        one = settle(together, files, reading)
        formats = {peek.format for peek in together}
        is_one_tool = len(formats) == 1 and formats.isdisjoint(CONTAINERS)
        is_alike = not [found for found in settled if _list_needed(found) != _list_needed(one)]
        if is_one_tool or (is_alike and not one.trial.refusal and not one.proposal.questions):
            kinds, settled = [(together, files)], [one]
    for found in settled:
        found.leave_open(questions)
    chosen = kinds if all else kinds[:KINDS_SHOWN]
    more = [f"left out: {reason}" for reason in skipped]
    if not all and len(skipped) > KINDS_SHOWN:
        more[KINDS_SHOWN:] = [f"and {len(skipped) - KINDS_SHOWN:,} more files were left out"]
    if len(kinds) > len(chosen):
        more.append(f"and {len(kinds) - len(chosen):,} more kinds of files: --all shows them")
    # The blocks share the remaining lines, with a blank line between them.
    room = (LINES + 1 - len(more) - bool(more)) // len(chosen) - 1
    blocks = []
    for (peeks, members), found in zip(chosen, settled, strict=False):
        paths = list(sources) if len(kinds) == 1 else _name_files(members)
        lines = list(_write_block(peeks, members, paths, found, None if all else room))
        if write:
            lines += write_select(Path(write), peeks[0], paths, found)
        blocks.append("\n".join(visible(_cut_line(line)) for line in lines))
    blocks += ["\n".join(map(visible, more))] if more else []
    return "\n\n".join(blocks) + "\n"


def _describe_select(sources: Sequence[Any], reading: Reading) -> str:
    """Describe what a load with a select would hold, or why it would be refused."""
    trial = try_load(sources, reading)
    if trial.refusal:
        return visible(f"{NOT_YET} {trial.refusal}") + "\n"
    names = [source for source in sources if isinstance(source, str)]
    failed = [check for check in trial.warned if check["is_failed"]]
    lines = [NOT_YET if failed else LOADS, *(_write_check(check) for check in failed)]
    lines += [
        _write_command(names, list(write_arguments(reading))),
        *_write_record(trial),
        *_write_counts(trial, sources, "sql"),
    ]
    return "\n".join(visible(_cut_line(line)) for line in lines) + "\n"


def _cut_line(line: str) -> str:
    """Cut a line to the width of a terminal, except verdicts, questions and commands."""
    verdicts = ("  budget-audit ", LOADS, NOT_YET, "  ? ")
    is_whole = line.startswith(verdicts) or len(line) <= WIDTH
    return line if is_whole else line[: WIDTH - 1] + "…"


def _ask_about_columns(
    files: Sequence[SourceFile], reading: Reading
) -> tuple[list[tuple[list[Source], list[SourceFile]]], Reading, list[Question]]:
    """Return the kinds of files; ask about ambiguous columns, and read one of them meanwhile."""
    questions: list[Question] = []
    while True:
        try:
            return _group_files(files, reading), reading, questions
        except AuditError as error:
            # Two columns that differ: the command gets ??? in their place.
            found = re.findall(r"--map (\w+)=(.+?)(?= or --|$)", str(error))
            if len(found) < 2 or found[0][0] in reading.mapping:
                raise
            (column, path), names = found[-1], [name for _, name in found]
            questions.append(Question(column, str(error), tuple(names)))
            reading = replace(reading, mapping={**reading.mapping, column: path})


def _group_files(
    files: Sequence[SourceFile], reading: Reading
) -> list[tuple[list[Source], list[SourceFile]]]:
    """Group files by format and columns; after the first few, the rest join the last group."""
    kinds: dict[Any, tuple[list[Source], list[SourceFile]]] = {}
    last = None
    for number, file in enumerate(files):
        if number < FILES_PEEKED or last is None:
            source = open_source(file, reading)
            last = (source.format, source.title, *sorted(source.mapping.items()))
            kinds.setdefault(last, ([], []))[0].append(source)
        kinds[last][1].append(file)
    return list(kinds.values())


def _list_needed(settled: Settled) -> tuple[Any, ...]:
    """Return the options that files need, ignoring the names of archive and competition."""
    options = {n: n in ("archive", "competition") or v for n, v in settled.proposal.options.items()}
    return settled.reading.answer, settled.reading.failed, settled.proposal.mapping, options


def _name_files(files: Sequence[SourceFile]) -> list[str]:
    """Return a glob that matches exactly these files, or else their paths."""
    paths = {file.path for file in files}
    folder = glob.escape(os.path.commonpath([path.parent for path in paths]))
    name = files[0].path.name
    ending = name.removeprefix(remove_suffix(name))
    for pattern in (f"{folder}/*{ending}", f"{folder}/**/*{ending}") if len(files) > 1 else ():
        if {Path(found) for found in glob.glob(pattern, recursive=True)} == paths:
            return [pattern]
    return [str(file.path) for file in files]


def _write_block(
    peeks: list[Source],
    files: list[SourceFile],
    sources: list[str],
    settled: Settled,
    room: int | None,
) -> Iterator[str]:
    """Yield the verdict, command, first record, counts and missing columns, in `room` lines."""
    # Where several kinds share the lines, counts are more useful than a record.
    is_brief = room is not None and room < LINES // 2
    source, trial, proposal = peeks[0], settled.trial, settled.proposal
    failed = [check for check in trial.warned if check["is_failed"]]
    lines = list(_write_verdict(source, settled, failed))
    if proposal.questions or not trial.refusal:
        holes = [word for question in proposal.questions for word in question.option]
        lines.append(_write_command(sources, [*write_arguments(settled.reading), *holes]))
    lines += [f"  guessed: {guess.why}" for guess in proposal.guesses if not guess.is_serious]
    if not trial.refusal:
        lines += [] if is_brief else _write_record(trial)
        lines += _write_counts(trial, files, source.format)
        lines += _write_missing(source, settled)
    if room is not None and len(lines) > room:
        # The command is shown, however many columns are asked about.
        after = [line for line in lines[room - 1 :] if line.startswith("  budget-audit ")]
        more = f"… {len(lines) - room + 1:,} more lines: --all shows them"
        lines = [*lines[: room - 1 - len(after)], *after, more]
    yield from [*lines, *(_write_all(source, settled) if room is None else ())]


def _write_verdict(
    source: Source, settled: Settled, failed: Sequence[dict[str, Any]]
) -> Iterator[str]:
    """Yield the verdict, with its questions, its refusal or its guesses."""
    questions, trial = settled.proposal.questions, settled.trial
    if len(questions) == 1:
        yield from [f"{NOT_YET} {questions[0].words}", *list(questions[0].lines())[1:]]
    elif questions:
        yield f"{NOT_YET} {len(questions)} questions are left"
        for question in questions:
            yield from question.lines()
    elif trial.refusal:
        missing = (
            find_missing_columns(source, settled.reading) if "missing col" in trial.refusal else []
        )
        yield f"{NOT_YET} {'; '.join(explain_missing(source, n) for n in missing) or trial.refusal}"
    elif failed:
        yield f"{NOT_YET} {_write_check(failed[0])}"
        yield from (f"  {_write_check(check)}" for check in failed[1:])
    elif serious := [guess for guess in settled.proposal.guesses if guess.is_serious]:
        yield f"{IF_RIGHT} {'; '.join(guess.why for guess in serious)}"
    else:
        yield LOADS


def _write_check(check: dict[str, Any]) -> str:
    return f"{check['check']} in {check['count']:,} of {check['total']:,}: {check['advice']}"


def _write_command(paths: Sequence[str], options: Sequence[str]) -> str:
    """Return the command in one line; for many files, advise to load their folder."""
    if len(paths) > NAMES_SHOWN:
        shown = shlex.join(options) or "no option"
        return f"  {len(paths):,} files such as {paths[0]}: load their folder with {shown}"
    return f"  {shlex.join(['budget-audit', 'load', *paths, *options])}"


def _write_record(trial: Trial) -> Iterator[str]:
    """Yield the first attempt as the command reads it."""
    record = trial.record
    problem = record["name"] if record["name"] is not None else record["question_id"]
    label = {None: "no label", True: "right", False: "wrong"}[record["correct"]]
    yield "first record"
    yield (
        f"  archive {_shorten(record['archive'])}, competition {_shorten(record['competition'])}, "
        f"problem {_shorten(problem)}, attempt {record['seed']}"
    )
    answer = "no answer" if record["answer"] is None else f"answer {_shorten(record['answer'])}"
    yield (
        f"  {record['completion_tokens']:,} tokens, finish reason "
        f"{_shorten(record['finish_reason'])}, {answer}, {label}"
    )
    if record["text"]:
        line = " ".join(record["text"].split())
        yield f"  text {line if len(line) <= 80 else f'{line[:38]} … {line[-38:]}'}"


def _write_counts(trial: Trial, files: Sequence[Any], format: str) -> Iterator[str]:
    """Yield counts, notes and warnings of the trial load."""
    counts = trial.counts
    many = f"{len(files):,} files, " if len(files) > 1 else ""
    part = "" if trial.is_whole else " (of the beginning that was tried)"
    least, most = counts["least"], counts["most"]
    sizes = f"{least:,} to {most:,} attempts" if most > least else plural(most, "attempt")
    yield f"counts{part}: {many}format {format}"
    yield (
        f"  {plural(counts['attempts'], 'attempt')}: {plural(counts['archives'], 'archive')}, "
        f"{plural(counts['problems'], 'problem')}, {sizes} each"
    )
    total = counts["attempts"]
    yield (
        f"  finished {_write_share(counts['finished'], total)}, answered "
        f"{_write_share(counts['answered'], total)}, "
        + (f"right {_write_share(counts['correct'], total)}" if counts["labelled"] else "no labels")
        + (f", {plural(counts['checkpoints'], 'checkpoint')}" if counts["checkpoints"] else "")
    )
    for note in trial.notes:
        yield f"  note: {note}"
    if trial.alike:
        forms = f"{trial.alike['first']} and {trial.alike['second']}"
        yield f"  note: {forms} are answers to one problem; --numbers makes them one"
    for check in trial.warned:
        if not check["is_failed"]:
            yield f"  warns: {check['check']} in {check['count']:,} of {check['total']:,}" + (
                _propose_option(trial, check["check"])
            )


def _propose_option(trial: Trial, check: str) -> str:
    """Return the option that adds reasoning tokens to the cost, for that warning only."""
    paths = [trial.mapping.get(name, "") for name in REASONED]
    has_option = check == "reasoning_not_counted" and not paths[0].startswith(COUNTED)
    return f": --map completion_tokens={'+'.join(paths)}" if has_option else ""


def _write_share(count: int, total: int) -> str:
    return f"{count:,} ({100 * count / max(total, 1):.0f} %)"


def _shorten(value: Any) -> str:
    text = value if isinstance(value, str) else excerpt(value)
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:19]} … {line[-18:]}"


def _write_missing(source: Source, settled: Settled) -> Iterator[str]:
    """Yield a line for each missing column that limits results: label, references, prompts."""
    mapped = source.mapping.keys() | settled.reading.mapping.keys()
    if not settled.trial.counts["labelled"]:
        yield f"absent: {explain_missing(source, 'correct')}"
    for name in MATTERS:
        is_compared = name != "references" or settled.reading.answer != NO_ANSWER
        if name not in mapped and is_compared:
            yield f"absent: {NEEDS[name].what}: {NEEDS[name].cost}"


def _write_all(source: Source, settled: Settled) -> Iterator[str]:
    """Yield every column with its origin, then unused and missing columns."""
    mapping = source.mapping | dict(settled.reading.mapping)
    yield f"columns of {source.file.shown_name} ({source.title})"
    # Scores have any name.
    for name in (*COLUMNS, *sorted(mapping.keys() - COLUMNS.keys())):
        if name in mapping:
            yield f"  {name:18}  from {mapping[name]}"
    if settled.unused:
        yield f"  unused              {', '.join(settled.unused)}"
    for name in (*find_missing_columns(source, settled.reading), *OPTIONAL):
        if name not in mapping:
            yield f"  {explain_missing(source, name)}"
