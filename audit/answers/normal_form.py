r"""Normalize answers conservatively, so that equal answers become equal texts.

An answer is read as TeX tokens: a backslash with the ASCII letters after it (a command word) or
with the one character after it. Any `str` is accepted, in time linear in its length.

Where the rules meet, these hold:
- A command is whole when it is whole as written: `\left x` is `x` and `\displaystyle x` is `x`.
  Otherwise white space just goes, `\alpha b` is `\alphab`, and a command that appears that way
  counts too: `\te xt{5}` is `5`.
- A backslash before any white space is `\ `.
- Math delimiters stay on when a delimiter of any kind is inside: `\[$5$\]` stays.
- A comma is part of a list, not of a number, when the token directly before or after it as written
  is white space or LaTeX spacing other than `\!`; this holds for the comma of `{,}` too.
- The first group of a number with separators has one to three digits: `0,123` is `123`,
  `1234,567` stays.
- `1, 234` becomes `1,234`, which would become `1234` if it were normalized again. In every other
  case normalizing twice is normalizing once.
"""

import re
from functools import lru_cache
from itertools import pairwise

# Unicode's White_Space property. `\s` and str.isspace would add U+001C to U+001F.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
SPACING = {r"\,", r"\;", r"\:", r"\!", "~", r"\quad", r"\qquad"}
REMOVED = SPACING | {r"\left", r"\right"}
RENAMED = {r"\dfrac": r"\frac", r"\tfrac": r"\frac"}
WRAPPERS = {
    r"\text", r"\textbf", r"\textit", r"\textrm", r"\mathrm",
    r"\mathbf", r"\mathit", r"\mathsf", r"\mbox", r"\boxed",
}  # fmt: skip
STYLES = {r"\displaystyle", r"\textstyle"}
DELIMITERS = {"$": "$", r"\(": r"\)", r"\[": r"\]"}
DELIMITER_TOKENS = {*DELIMITERS, *DELIMITERS.values()}
DISPLAY = ["$"] * 4

# The token for a comma of a list. No other input gives this token, because a comma before a space
# is a list's comma, and the first round removes all other white space.
LIST_COMMA = ", "
TOKEN = re.compile(
    rf"\\(?:[A-Za-z]+|[\s\S])?|, ?|[{{}}$~]|[{WHITE_SPACE}]+|[^\\,{{}}$~{WHITE_SPACE}]+"
)
# A decimal: sign, whole part and digits after the point; no exponent, no fraction.
DECIMAL = re.compile(r"([+-]?)([0-9]+|(?=\.[0-9]))(?:\.([0-9]*))?", re.ASCII)
INTEGER = re.compile(r"([+-]?)([0-9]{1,3}(?:(?:,|\{,\})[0-9]{3})+|[0-9]+)")


def normalize(raw: str | None) -> str | None:
    """Return the normal form of an answer, or None if it is empty."""
    if raw is None:
        return None
    if raw.isascii() and raw.isdigit():
        return raw.lstrip("0") or "0"
    before, text = None, _mark_list_commas(raw)
    # At most three rounds: after the first one only a command word joined to the letters behind it
    # is new, and taking that out joins no further letters.
    while text != before:
        before, text = text, "".join(_unwrap(_clean(TOKEN.findall(text))))
    if integer := INTEGER.fullmatch(text):
        sign, digits = integer.groups()
        # int() refuses long literals.
        digits = re.sub("[{},]", "", digits).lstrip("0")
        text = ("-" if sign == "-" else "") + digits if digits else "0"
    return text.replace(LIST_COMMA, ",") or None


@lru_cache(maxsize=65536)
def _normalize_short(raw: str) -> str | None:
    """Normalize a short answer; long ones would fill the cache with text."""
    return normalize(raw)


def normalize_cached(raw: str) -> str | None:
    """Normalize an answer through a cache, since the same answers occur many times."""
    return _normalize_short(raw) if len(raw) <= 200 else normalize(raw)


def rewrite_number(form: str | None) -> str | None:
    """Rewrite a plain decimal without extra zeros and plus sign (--numbers); keep other answers."""
    match = DECIMAL.fullmatch(form) if form else None
    if match is None:
        return form
    whole, part = match[2].lstrip("0") or "0", (match[3] or "").rstrip("0")
    text = f"{whole}.{part}" if part else whole
    return f"-{text}" if match[1] == "-" and text != "0" else text


def _is_white(token: str) -> bool:
    r"""Return whether a token is white space or `\ `."""
    return token[-1] in WHITE_SPACE and token != LIST_COMMA


def _mark_list_commas(raw: str) -> str:
    r"""Replace commas beside white space or spacing (not `\!`) by the token `LIST_COMMA`."""
    if "," not in raw:
        return raw
    tokens = TOKEN.findall(raw)
    gaps = [_is_white(token) or (token in SPACING and token != r"\!") for token in tokens]
    for place, (left, right) in enumerate(pairwise(gaps)):
        if left and tokens[place + 1] == ",":
            tokens[place + 1] = LIST_COMMA
        elif right and tokens[place] == ",":
            tokens[place] = LIST_COMMA
    return "".join(tokens)


def _clean(tokens: list[str]) -> list[str]:
    r"""Drop white space, spacing, `\left` and `\right`, and write every fraction as `\frac`."""
    return [
        RENAMED.get(token, token)
        for token in tokens
        if token not in REMOVED and not _is_white(token)
    ]


def _unwrap(tokens: list[str]) -> list[str]:
    """Remove wrappers, styles and math delimiters that enclose the whole answer."""
    closing = _match_braces(tokens)
    delimiters = sum(token in DELIMITER_TOKENS for token in tokens)
    first, last = 0, len(tokens) - 1
    while first <= last:
        head = tokens[first]
        if head in STYLES:
            first += 1
        elif head == "{" and closing[first] == last:
            first, last = first + 1, last - 1
        elif head in WRAPPERS and first < last and closing[first + 1] == last:
            first, last = first + 2, last - 1
        elif delimiters == 2 and first < last and tokens[last] == DELIMITERS.get(head):
            first, last, delimiters = first + 1, last - 1, 0
        elif delimiters == 4 and tokens[first : first + 2] + tokens[last - 1 : last + 1] == DISPLAY:
            first, last, delimiters = first + 2, last - 2, 0
        else:
            break
    return tokens[first : last + 1]


def _match_braces(tokens: list[str]) -> list[int]:
    """Find the index of the closing brace for each opening brace; -1 for other tokens."""
    closing = [-1] * len(tokens)
    openings: list[int] = []
    for place, token in enumerate(tokens):
        if token == "{":
            openings.append(place)
        elif token == "}" and openings:
            closing[openings.pop()] = place
    return closing
