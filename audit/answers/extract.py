"""Extract answers from attempts: the last box, the last match of a pattern, or a column."""

import re
from collections.abc import Callable

import pyarrow as pa

from audit.answers.boxes import last_box
from audit.answers.normal_form import normalize_cached, rewrite_number
from audit.errors import AuditError

# The kind of answer of tasks that pass or fail: there is nothing to vote on.
NO_ANSWER = "none"


def compile_pattern(answer: str) -> re.Pattern[str] | None:
    """Compile the pattern of `--answer regex:PATTERN`; return None for the other kinds."""
    kind, colon, expression = answer.partition(":")
    if answer in ("boxed", "archive", NO_ANSWER):
        return None
    if kind != "regex" or not colon:
        raise AuditError(f"--answer {answer}: must be boxed, archive, none or regex:PATTERN")
    return compile_group(
        expression, f"--answer {answer}", "put the answer in parentheses, as in 'is (.+)'"
    )


def compile_group(expression: str, option: str, advice: str) -> re.Pattern[str]:
    """Compile the regular expression of an option; its first group is the part it extracts."""
    try:
        pattern = re.compile(expression)
    except re.error as error:
        raise AuditError(f"{option}: not a regular expression: {error}") from None
    if pattern.groups < 1:
        raise AuditError(f"{option}: {advice}")
    return pattern


def extract_answers(answer: str, texts: pa.Array, boxed: pa.Array, extracted: pa.Array) -> pa.Array:
    """Extract the answers of an --answer kind, before normalization, from texts or columns."""
    if answer == "boxed":
        return extract_boxes(texts, boxed)
    if answer == "archive":
        return extracted.cast(pa.string())
    if answer == NO_ANSWER:
        return pa.nulls(len(texts), pa.string())
    pattern = compile_pattern(answer)
    assert pattern is not None
    answers = (None if text is None else _find_last(pattern, text) for text in texts.to_pylist())
    return pa.array(answers, pa.string())


def normalize_answers(raw: pa.Array, *, numbers: bool = False) -> pa.Array:
    """Normalize answers for comparison; with `numbers`, equal decimals become equal texts."""
    forms = _map_distinct(normalize_cached, raw)
    return rewrite_numbers(forms) if numbers else forms


def rewrite_numbers(forms: pa.Array) -> pa.Array:
    """Rewrite decimals in normalized answers so that equal numbers become equal texts."""
    return _map_distinct(rewrite_number, forms)


def _map_distinct(make: Callable[[str], str | None], texts: pa.Array) -> pa.Array:
    """Apply a function to an array of texts, once per distinct text."""
    encoded = texts.dictionary_encode()
    made = list(map(make, encoded.dictionary.to_pylist()))
    return pa.array(made, pa.string()).take(encoded.indices)


def extract_boxes(texts: pa.Array, boxed: pa.Array) -> pa.Array:
    """Extract the last box of each text; use the recorded box where the text is missing."""
    # One text at a time becomes a Python string: they may be long.
    strings = (text.as_py() for text in texts)
    pairs = zip(strings, boxed.to_pylist(), strict=True)
    answers = [body if text is None else last_box(text) for text, body in pairs]
    return pa.array(answers, pa.string())


def _find_last(pattern: re.Pattern[str], text: str) -> str | None:
    """Return the first group of the last match in a text, or None."""
    answer = None
    for match in pattern.finditer(text):
        answer = match[1]
    return answer
