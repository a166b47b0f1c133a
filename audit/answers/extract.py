"""Answers taken out of attempts: the last box, the last match of a pattern, or the log's own."""

import re
from collections.abc import Callable

import pyarrow as pa

from audit.answers.boxes import last_box
from audit.answers.normal_form import normalize_often, number_form
from audit.errors import AuditError

# The kind of tasks that are passed or failed: there is nothing to vote on.
NO_ANSWER = "none"


def answer_pattern(answer: str) -> re.Pattern[str] | None:
    """Return the pattern of `regex:PATTERN`; None for the other kinds."""
    kind, colon, written = answer.partition(":")
    if answer in ("boxed", "archive", NO_ANSWER):
        return None
    if kind != "regex" or not colon:
        raise AuditError(f"--answer {answer}: must be boxed, archive, none or regex:PATTERN")
    return group_pattern(
        written, f"--answer {answer}", "put the answer in parentheses, as in 'is (.+)'"
    )


def group_pattern(written: str, option: str, advice: str) -> re.Pattern[str]:
    """Compile the regular expression of an option; its first group is the part it extracts."""
    try:
        pattern = re.compile(written)
    except re.error as error:
        raise AuditError(f"{option}: not a regular expression: {error}") from None
    if pattern.groups < 1:
        raise AuditError(f"{option}: {advice}")
    return pattern


def raw_answers(answer: str, texts: pa.Array, boxed: pa.Array, extracted: pa.Array) -> pa.Array:
    """Return the answers as written: in the last box, by the last match, or by the archive."""
    if answer == "boxed":
        return extract_answers(texts, boxed)
    if answer == "archive":
        return extracted.cast(pa.string())
    if answer == NO_ANSWER:
        return pa.nulls(len(texts), pa.string())
    pattern = answer_pattern(answer)
    assert pattern is not None
    answers = (None if text is None else _last(pattern, text) for text in texts.to_pylist())
    return pa.array(answers, pa.string())


def normal_answers(raw: pa.Array, *, numbers: bool = False) -> pa.Array:
    """Return the normal forms of answers as written; with --numbers decimals are numbers."""
    forms = _each_once(normalize_often, raw)
    return number_forms(forms) if numbers else forms


def number_forms(forms: pa.Array) -> pa.Array:
    """Return normal forms as --numbers compares them."""
    return _each_once(number_form, forms)


def _each_once(make: Callable[[str], str | None], texts: pa.Array) -> pa.Array:
    """Return the result of a function for every text, computed once for equal texts."""
    encoded = texts.dictionary_encode()
    made = list(map(make, encoded.dictionary.to_pylist()))
    return pa.array(made, pa.string()).take(encoded.indices)


def extract_answers(texts: pa.Array, boxed: pa.Array) -> pa.Array:
    """Return the last box of each text as written, or the recorded box where there is no text."""
    # One text at a time becomes a Python string: they may be long.
    written = (text.as_py() for text in texts)
    pairs = zip(written, boxed.to_pylist(), strict=True)
    answers = [body if text is None else last_box(text) for text, body in pairs]
    return pa.array(answers, pa.string())


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    answer = None
    for match in pattern.finditer(text):
        answer = match[1]
    return answer
