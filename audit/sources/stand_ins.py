"""Columns that options fill: constants, token counts, references, labels; failed attempts."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import compress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from audit.errors import AuditError
from audit.options import Reading
from audit.sources.canonical import ANSWERING, check_problem_name, find_problem_key, parse_csv_list
from audit.sources.columns import RECORDS_SHOWN, list_columns
from audit.sources.containers import sniff
from audit.sources.files import Chunk, Source, SourceFile, find_files
from audit.sources.formats import REASONING, as_references
from audit.sources.json_stream import read_small_document
from audit.sources.readers import read_rows
from audit.sources.readers.chunks import make_empty_error
from audit.sources.readers.parquet import convert_values

# Looks up a fact by (archive or competition, problem); None where the file has none.
Facts = Callable[[Any, str], Any]
PROBLEMS = "question_id problem_id instance_id custom_id data_id doc_id task_id id problem"
# A file of references: a problem's name and its accepted answers, a row or line each.
REFERENCES = {
    "competition": "competition",
    "question_id": f"{PROBLEMS} question",
    "references": "references reference reference_answer ground_truth gold_answer expected_answer "
    "target answer",
}
# A file of labels: a problem's name, perhaps an archive's, and whether it is right.
LABELS = {
    "archive": "archive model",
    "question_id": PROBLEMS,
    "correct": "correct resolved is_correct label passed success score",
}
# Lists of resolved problems in reports of SWE-bench: all others are wrong.
RESOLVED = ("resolved_ids", "resolved", "resolved_instances")


def fill_missing(source: Source, reading: Reading) -> Source:
    """Fill columns from options: finish reason, token counts, references and labels."""
    filled: dict[str, Callable[[Chunk], Sequence[Any]]] = {}
    mapping = dict(source.mapping)
    if reading.finish_reason is not None and "finish_reason" not in mapping:
        mapping["finish_reason"] = "--finish-reason"
        filled["finish_reason"] = lambda chunk: [reading.finish_reason] * len(chunk.rows)
    is_countable = "text" in mapping and "completion_tokens" not in mapping
    if reading.count_tokens is not None and is_countable:
        count = make_token_counter(reading.count_tokens)
        mapping["completion_tokens"] = f"counted with {reading.count_tokens}"
        filled["completion_tokens"] = lambda chunk: _count_tokens(chunk, count)
    if reading.references is not None:
        accepted = _read_references(_find_file("--references", reading.references))
        mapping["references"] = f"--references {os.path.basename(reading.references)}"
        filled["references"] = lambda chunk: [
            accepted(competition, find_problem_key(problem))
            for competition, problem in read_value_rows(chunk, "competition", "question_id")
        ]
    if reading.labels is not None:
        labels = _read_labels(_find_file("--labels", reading.labels))
        mapping["correct"] = f"--labels {os.path.basename(reading.labels)}"
        filled["correct"] = lambda chunk: [
            labels(archive, str(problem))
            for archive, problem in read_value_rows(chunk, "archive", "question_id")
        ]
    if reading.grade is not None and "references" in mapping:
        mapping["correct"] = "references"
    chunks = (
        replace(chunk, values={**chunk.values, **{n: fill(chunk) for n, fill in filled.items()}})
        for chunk in map(_add_reasoning_length, source.chunks)
    )
    return replace(source, mapping=mapping, chunks=chunks)


def _add_reasoning_length(chunk: Chunk) -> Chunk:
    """Add the column `reasoning_length` to a chunk: the characters of each attempt's reasoning."""
    if REASONING not in chunk.values:
        return chunk
    lengths = [
        len(reasoning) if isinstance(reasoning, str) else None
        for reasoning in read_values(chunk, REASONING)
    ]
    return replace(chunk, values={**chunk.values, "reasoning_length": lengths})


def read_values(chunk: Chunk, name: str) -> list[Any]:
    """Return the raw values of a column, one for each row."""
    values = chunk.values.get(name)
    if values is None:
        return [None] * len(chunk.rows)
    return convert_values(values) if isinstance(values, pa.Array) else list(values)


def read_value_rows(chunk: Chunk, *names: str) -> Iterator[tuple[Any, ...]]:
    """Return the raw values of some columns, a tuple for each row."""
    return zip(*(read_values(chunk, name) for name in names), strict=True)


def _count_tokens(chunk: Chunk, count: Callable[[str], int | None]) -> list[int | None]:
    """Count the tokens of each text and of its reasoning, which was paid for, too."""
    pairs = read_value_rows(chunk, REASONING, "text")
    return [
        sum(count(part) or 0 for part in pair if isinstance(part, str)) or None for pair in pairs
    ]


def make_token_counter(encoding: str) -> Callable[[str], int | None]:
    """Return a function that counts a text's tokens; None for a text that cannot be encoded."""
    from audit import tokens

    try:
        encode = tokens.find_encoding(encoding).encode
    except AuditError as error:
        raise AuditError(str(error).replace("--tokenizer", "--count-tokens")) from None

    def count(text: str) -> int | None:
        try:
            return encode(text)[0]
        except UnicodeEncodeError:
            return None  # The text's own rule says what is wrong.
        except BaseException as error:
            # Not an Exception, so that nobody catches it: how tiktoken ends at a million spaces.
            if type(error).__name__ != "PanicException":
                raise
            return None

    return count


def _find_file(option: str, path: str) -> SourceFile:
    """Return the one file that an option names; refuse a folder."""
    if os.path.isdir(path):
        raise AuditError(f"{option} {path}: is a folder; name one file")
    (file,) = find_files([path])
    return file


def _read_facts(
    option: str, file: SourceFile, known: Mapping[str, str]
) -> Iterator[tuple[Any, ...]]:
    """Yield place, archive or competition, problem, and value of each row of an option's file.

    Each column is read from the first known name that has any value.
    """
    rows = [(number, record) for number, record, *_ in read_rows(file, sniff(file).container)]
    if not rows:
        raise make_empty_error(file)
    held = dict.fromkeys(name for _, record in rows for name in record if record[name] is not None)
    found = {
        column: next((name for name in names.split() if name in held), None)
        for column, names in known.items()
    }
    group, *needed = known
    if missing := [column for column in needed if found[column] is None]:
        has = list_columns([record for _, record in rows[:RECORDS_SHOWN]])
        raise AuditError(f"{option} {file.name}: no column for {min(missing)}; {has}")
    for number, record in rows:
        place = f"{option} {file.name}: row {number}"
        name, problem, said = (record.get(found[column] or "") for column in (group, *needed))
        try:
            yield place, name, check_problem_name(problem), said
        except ValueError as error:
            raise AuditError(f"{place}, column question_id: {error}") from None


@lru_cache(maxsize=1)
def _read_references(file: SourceFile) -> Facts:
    """Read a file of references; return the lookup of the accepted answers of a problem."""
    accepted: dict[tuple[Any, str], list[str]] = {}
    is_csv = sniff(file).container == "csv"
    for _, competition, problem, said in _read_facts("--references", file, REFERENCES):
        forms = as_references(parse_csv_list(said) if is_csv else said) or []
        accepted.setdefault((competition, problem), []).extend(forms)
    return _make_lookup(accepted)


def _make_lookup(facts: Mapping[tuple[Any, str], Any]) -> Facts:
    """Return a lookup by group and problem; entries without a group hold for every group."""
    return lambda group, problem: facts.get((group, problem), facts.get((None, problem)))


@lru_cache(maxsize=1)
def _read_labels(file: SourceFile) -> Facts:
    """Read a file of labels; return the lookup of the label by archive and problem."""
    document = read_small_document(file.path)
    lists = (
        [document, *(document.get(key) for key in RESOLVED)]
        if isinstance(document, dict)
        else [document]
    )
    for names in lists:
        if isinstance(names, list) and all(isinstance(name, str | int) for name in names):
            right = {str(name) for name in names}
            return lambda archive, problem: problem in right
    if isinstance(document, dict):
        labels = {
            str(name): value.get("resolved", value.get("correct")) if isinstance(value, dict)
            else value for name, value in document.items()
        }  # fmt: skip
        if labels and all(isinstance(value, bool | None) for value in labels.values()):
            return lambda archive, problem: labels.get(problem)
    said: dict[tuple[Any, str], Any] = {}
    for place, archive, problem, label in _read_facts("--labels", file, LABELS):
        if said.setdefault((archive, problem), label) != label:
            raise AuditError(f"{place}: {problem!r} is labelled twice, and not alike")
    return _make_lookup(said)


# Attempts that failed: no text, no answer and no tokens. --failed drops or counts them.

UNFINISHED = "error"
# What a note says of failed attempts, by option.
TREATMENTS = {"drop": "left out", "count": "counted as unfinished at cost 1"}


def settle_failed(source: Source, reading: Reading) -> Source:
    """Leave failed attempts out, keep them at cost 1, or refuse the file with their count."""
    if "completion_tokens" not in source.mapping:
        return source
    mapping = dict(source.mapping)
    return replace(source, mapping=mapping, chunks=_settle_chunks(source, reading.failed, mapping))


def _settle_chunks(source: Source, failed: str | None, mapping: dict[str, str]) -> Iterator[Chunk]:
    """Yield the chunks with failed attempts dropped or counted; note how many there were."""
    count = others = 0
    for chunk in source.chunks:
        is_failed = _find_failed(chunk, is_any=failed is not None)
        failures = sum(is_failed)
        if failures and failed is None:
            count = failures + sum(sum(_find_failed(later)) for later in source.chunks)
            raise source.file.error(
                f"{chunk.place(is_failed.index(True))}, column completion_tokens: attempts without "
                f"text and tokens, {count:,} in this file; pass --failed drop to leave them out, "
                "or --failed count to keep them as unfinished attempts at cost 1"
            )
        count, others = count + failures, others + len(chunk.rows) - failures
        if failed == "count" and failures:
            yield _count_failed(chunk, is_failed)
        elif failures < len(chunk.rows):
            yield _drop_failed(chunk, is_failed) if failures else chunk
    if count:
        mapping["failed"] = f"{count:,} {TREATMENTS[failed or '']}"
        source.notes[f"attempts failed (no tokens): {TREATMENTS[failed or '']}"] += count
    # A file of one run may hold a failed one; where several all failed, costs are read wrongly.
    if count and not others and (failed == "drop" or count > 1):
        what = f"all of its {count:,} attempts failed (no tokens); leave it out"
        raise source.file.error(what)


def _find_failed(chunk: Chunk, *, is_any: bool = False) -> list[bool]:
    """Return for each row whether it has no cost and no steps and, unless `is_any`, no answer."""
    costs = chunk.values.get("completion_tokens")
    # Most files have no such row, and need no further look.
    is_typed = isinstance(costs, pa.Array) and pa.types.is_integer(costs.type)
    if is_typed and costs is not None and not costs.null_count and pc.min(costs).as_py() != 0:
        return [False] * len(chunk.rows)
    is_failed = [cost in (None, 0, "0", "") for cost in read_values(chunk, "completion_tokens")]
    for name in ("steps",) if is_any else (*ANSWERING, "steps"):
        if any(is_failed):
            values = map(_is_empty, read_values(chunk, name))
            is_failed = [fails and empty for fails, empty in zip(is_failed, values, strict=True)]
    return is_failed


def _is_empty(value: Any) -> bool:
    return value in (None, [], "[]") or (isinstance(value, str) and not value.strip())


def _count_failed(chunk: Chunk, is_failed: Sequence[bool]) -> Chunk:
    """Return the chunk with failed attempts at the smallest cost, none of them finished."""
    costs, reasons = [], []
    found = read_value_rows(chunk, "completion_tokens", "finish_reason")
    for fails, (cost, reason) in zip(is_failed, found, strict=True):
        costs.append(1 if fails else cost)
        reasons.append(UNFINISHED if fails and reason in (None, "", "stop") else reason)
    settled = {"completion_tokens": costs, "finish_reason": reasons}
    return replace(chunk, values={**chunk.values, **settled})


def _drop_failed(chunk: Chunk, is_failed: Sequence[bool]) -> Chunk:
    """Return the chunk without its failed attempts."""
    kept = [not fails for fails in is_failed]
    return replace(
        chunk,
        values={
            name: values.filter(pa.array(kept))
            if isinstance(values, pa.Array)
            else list(compress(values, kept))
            for name, values in chunk.values.items()
        },
        rows=list(compress(chunk.rows, kept)),
        files=list(compress(chunk.files, kept)),
        names=list(compress(chunk.names, kept)),
    )
