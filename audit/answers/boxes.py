r"""Boxes: find `\boxed{…}`, the answer of a text.

The search for `\boxed{` is plain text, so that a doubly escaped log (`\\boxed{5}`) has its box too.
A body is read as TeX tokens: a backslash takes the next character with it, so `\{` and `\}` are
text, and `\\` never escapes what follows it. Everything takes time linear in a text's length.
"""

import re
from collections.abc import Iterator

from audit.answers.normal_form import normalize

BOX = r"\boxed{"
# A backslash with the character after it, or a brace.
BRACE = re.compile(r"\\[\s\S]?|[{}]")


def boxed_answer(text: str | None) -> str | None:
    """Find the last box of a text and return its normalized content, or None."""
    return None if text is None else normalize(last_box(text))


def last_box(text: str) -> str | None:
    r"""Return the raw content of the last `\boxed{`, or None if it is missing or not closed."""
    start = text.rfind(BOX)
    if start < 0:
        return None
    body = start + len(BOX)
    end = text.find("}", body)
    if end >= 0 and "{" not in (plain := text[body:end]) and "\\" not in plain:
        return plain
    depth = 1
    for match in BRACE.finditer(text, body):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if depth == 0:
                return text[body : match.start()]
    return None


def complete_boxes(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of the content of every closed box, ordered by end."""
    start = text.find(BOX)
    if start < 0:
        return
    openings: list[tuple[bool, int]] = []
    for match in BRACE.finditer(text, start):
        if match[0] == "{":
            body = match.end()
            openings.append((text.startswith(BOX, body - len(BOX)), body))
        elif match[0] == "}" and openings:
            is_box, body = openings.pop()
            if is_box:
                yield body, match.start()
