"""One text: its tokens counted, and the boxes that its interrupted prefixes show.

A prefix is cut on the tokens of the full text, never by tokenizing the prefix again: that would
change the count.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from audit.answers import boxed_answer, complete_boxes, normalize
from audit.tokens.encodings import Encoding


class Counted(NamedTuple):
    """What was found in one attempt; a text that the tokenizer gives up on has no count."""

    key: tuple[str, str, int, int]
    counted: int | None
    reconciled: bool
    cuts: list[tuple[int, bool, bool, str | None]]


def look(
    encoding: Encoding,
    key: tuple[str, str, int, int],
    text: str,
    recorded: int,
    cuts: Sequence[int],
) -> Counted:
    """Count one text; if the recorded count is the same or one more, cut it and look for boxes."""
    try:
        counted, prefixes = encoding.encode(text)
    except BaseException as error:
        # Not an Exception, so that nobody catches it: how tiktoken ends at a million spaces.
        if type(error).__name__ != "PanicException":
            raise
        return Counted(key, None, False, [])
    if recorded - counted not in (0, 1):
        return Counted(key, counted, False, [])
    visible = [(n, *boxes(prefix)) for n, prefix in zip(cuts, prefixes(cuts), strict=True)]
    return Counted(key, counted, True, visible)


class Written(NamedTuple):
    """The answers that stand in one text, each with the tokens up to its closing brace."""

    key: tuple[str, str, int, int]
    reconciled: bool
    answers: list[tuple[int, str]]


def find_written(
    encoding: Encoding, key: tuple[str, str, int, int], text: str, recorded: int
) -> Written:
    """Find every complete box that is not empty; the outer one of two that close in one token."""
    places = [(end, text[body:end]) for body, end in complete_boxes(text)]
    count = look(encoding, key, text, recorded, [])
    if not count.reconciled or not places:
        return Written(key, count.reconciled, [])
    counted, prefixes = encoding.encode(text)
    answers: dict[int, str] = {}
    for end, body in places:
        if (answer := normalize(body)) is not None:
            # The first number of tokens whose text holds the closing brace.
            length = lambda tokens: len(next(iter(prefixes([tokens]))))  # noqa: E731
            tokens = bisect_left(range(counted + 1), end + 1, key=length)
            answers[tokens] = answer  # Boxes come by their ends: the outer one last.
    return Written(key, True, sorted(answers.items()))


def boxes(prefix: str) -> tuple[bool, bool, str | None]:
    """Return whether there is a box, whether the parser accepts the last one, and its answer.

    The answer is that of the last complete box, by its opening, that normalizes to something.
    """
    last = boxed_answer(prefix)
    answer = last_complete_answer(prefix) if last is None else last
    return answer is not None, last is not None, answer


def last_complete_answer(text: str) -> str | None:
    """Return the normalized body of the last box that is complete and not empty."""
    places = sorted(complete_boxes(text), reverse=True)
    answers = (normalize(text[body:end]) for body, end in places)
    return next((answer for answer in answers if answer is not None), None)
