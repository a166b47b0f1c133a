"""Count the tokens of one text, cut it at given tokens, and find the boxes in the prefixes.

A prefix is cut on the tokens of the full text: tokenizing the prefix again would change the count.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from audit.answers import boxed_answer, complete_boxes, normalize
from audit.tokens.encodings import Encoding


class CountedText(NamedTuple):
    """The token count and prefix boxes of one text; no count if the tokenizer fails on it."""

    key: tuple[str, str, int, int]
    counted: int | None
    reconciled: bool
    cuts: list[tuple[int, bool, bool, str | None]]


def count_text(
    encoding: Encoding,
    key: tuple[str, str, int, int],
    text: str,
    recorded: int,
    cuts: Sequence[int],
) -> CountedText:
    """Count a text's tokens; if the record has as many or one more, find boxes in its prefixes."""
    try:
        counted, prefixes = encoding.encode(text)
    except BaseException as error:
        # tiktoken raises this BaseException at a million spaces.
        if type(error).__name__ != "PanicException":
            raise
        return CountedText(key, None, False, [])
    if recorded - counted not in (0, 1):
        return CountedText(key, counted, False, [])
    found = [(n, *inspect_boxes(prefix)) for n, prefix in zip(cuts, prefixes(cuts), strict=True)]
    return CountedText(key, counted, True, found)


class BoxedAnswers(NamedTuple):
    """The boxed answers of one text, each with the number of tokens up to its closing brace."""

    key: tuple[str, str, int, int]
    reconciled: bool
    answers: list[tuple[int, str]]


def find_boxes(
    encoding: Encoding, key: tuple[str, str, int, int], text: str, recorded: int
) -> BoxedAnswers:
    """Find all closed, not empty boxes; if two close in one token, keep the outer one."""
    places = [(end, text[body:end]) for body, end in complete_boxes(text)]
    count = count_text(encoding, key, text, recorded, [])
    if not count.reconciled or not places:
        return BoxedAnswers(key, count.reconciled, [])
    counted, prefixes = encoding.encode(text)
    answers: dict[int, str] = {}
    for end, body in places:
        if (answer := normalize(body)) is not None:
            # The first number of tokens whose text holds the closing brace.
            length = lambda tokens: len(next(iter(prefixes([tokens]))))  # noqa: E731
            tokens = bisect_left(range(counted + 1), end + 1, key=length)
            answers[tokens] = answer  # Boxes come by their ends: the outer one last.
    return BoxedAnswers(key, True, sorted(answers.items()))


def inspect_boxes(prefix: str) -> tuple[bool, bool, str | None]:
    """Return whether a prefix has a box, whether the last one is valid, and the answer.

    The answer is the normalized content of the last closed box, by its opening, that is not empty.
    """
    last = boxed_answer(prefix)
    answer = find_last_answer(prefix) if last is None else last
    return answer is not None, last is not None, answer


def find_last_answer(text: str) -> str | None:
    """Return the normalized content of the last box that is closed and not empty."""
    places = sorted(complete_boxes(text), reverse=True)
    answers = (normalize(text[body:end]) for body, end in places)
    return next((answer for answer in answers if answer is not None), None)
