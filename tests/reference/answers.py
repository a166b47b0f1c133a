"""Boxes and the normal form of answers, token by token."""

import re

# Unicode's White_Space property, which (unlike str.isspace) leaves out U+001C to U+001F.
WHITE_SPACE = {
    chr(code)
    for first, last in (
        *((0x09, 0x0D), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680)),
        *((0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F)),
        (0x3000, 0x3000),
    )
    for code in range(first, last + 1)
}
SPACING = {r"\,", r"\;", r"\:", r"\!", "~", r"\quad", r"\qquad"}
DELIMITERS = {"$", r"\(", r"\)", r"\[", r"\]"}
DELIMITER_PAIRS = (
    (["$", "$"], ["$", "$"]),
    (["$"], ["$"]),
    ([r"\("], [r"\)"]),
    ([r"\["], [r"\]"]),
)
WRAPPERS = {r"\text", r"\textbf", r"\textit", r"\textrm", r"\mathrm", r"\mathbf"}
WRAPPERS |= {r"\mathit", r"\mathsf", r"\mbox", r"\boxed"}


def tex_tokens(text: str) -> list[str]:
    """Characters, except that a backslash takes a command word or one character with it."""
    tokens = []
    at = 0
    while at < len(text):
        end = at + 1
        if text[at] == "\\":
            while end < len(text) and text[end].isascii() and text[end].isalpha():
                end += 1
            if end == at + 1:
                end += 1
        tokens.append(text[at:end])
        at = end
    return tokens


def closing_brace(tokens: list[str], opening: int) -> int | None:
    """Where the brace opened at `opening` closes, or None when it never does."""
    depth = 0
    for at in range(opening, len(tokens)):
        depth += (tokens[at] == "{") - (tokens[at] == "}")
        if depth == 0:
            return at
    return None


def slow_box(text: str | None) -> str | None:
    r"""The raw body of the last \boxed{...}, or None when there is none or it is unfinished.

    The search is plain text: a doubly escaped \\boxed{5} has a box too. Only its body is TeX.
    """
    _, found, after = (text or "").rpartition(r"\boxed{")
    tokens = tex_tokens("{" + after) if found else []
    end = closing_brace(tokens, 0)
    return None if end is None else "".join(tokens[1:end])


def is_spacing(token: str) -> bool:
    """White space, a backslash before white space, or a LaTeX spacing command."""
    return token in SPACING or token.removeprefix("\\") in WHITE_SPACE


def mark_list_commas(text: str, mark: str) -> str:
    r"""Replace each comma that has spacing other than \! beside it, for it separates a list."""
    tokens = tex_tokens(text)
    marked = list(tokens)
    for at, token in enumerate(tokens):
        beside = tokens[max(at - 1, 0) : at] + tokens[at + 1 : at + 2]
        if token == "," and any(is_spacing(other) and other != r"\!" for other in beside):
            marked[at] = mark
    return "".join(marked)


def simplify(tokens: list[str]) -> list[str]:
    """Steps 1 to 4, once."""
    tokens = [token for token in tokens if not is_spacing(token)]
    for opening, closing in DELIMITER_PAIRS:
        width = len(opening)
        is_around = tokens[:width] == opening and tokens[-width:] == closing
        inside = tokens[width:-width]
        if is_around and len(tokens) >= 2 * width and not DELIMITERS & set(inside):
            tokens = inside
    tokens = [token for token in tokens if token not in (r"\left", r"\right")]
    tokens = [r"\frac" if token in (r"\dfrac", r"\tfrac") else token for token in tokens]
    if tokens and tokens[0] in (r"\displaystyle", r"\textstyle"):
        tokens = tokens[1:]
    start = 1 if tokens and tokens[0] in WRAPPERS else 0
    is_braced = tokens[start : start + 1] == ["{"]
    if is_braced and closing_brace(tokens, start) == len(tokens) - 1:
        tokens = tokens[start + 1 : -1]
    return tokens


def slow_normalize(raw: str | None) -> str | None:
    """The normalized form of an answer, or None when nothing is left of it."""
    if raw is None:
        return None
    # A stand-in for list commas that the text itself does not contain.
    mark = next(chr(code) for code in range(0xE000, 0xF8FF) if chr(code) not in raw)
    text = mark_list_commas(raw, mark)
    while True:
        tokens = tex_tokens(text)
        # Commands are whole as they were written; only then is the result read again.
        while (simpler := simplify(tokens)) != tokens:
            tokens = simpler
        if "".join(tokens) == text:
            break
        text = "".join(tokens)
    if re.fullmatch(r"[+-]?([0-9]+|[0-9]{1,3}((,|\{,\})[0-9]{3})+)", text):
        digits = "".join(c for c in text if c in "0123456789").lstrip("0") or "0"
        return "-" + digits if text[0] == "-" and digits != "0" else digits
    return text.replace(mark, ",") or None
