"""Text from elsewhere, made fit to print: a terminal or a page must show it and never obey it."""

import difflib
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

# Control characters, and those that turn the direction of all that follows; XML has none of them.
STEERING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]"
)


def visible(text: str) -> str:
    """The text on one line with every unprintable character written as its escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def one_line(text: str) -> str:
    """A message on one line, whatever was in the names it quotes."""
    return visible(" ".join(text.split()))


def steerless(text: str) -> str:
    """The text with every character that would steer a page written as its escape."""
    return STEERING.sub(lambda found: visible(found[0]), text)


def shortened(name: str, limit: int, others: Sequence[str] = ()) -> str:
    """A name with at most `limit` characters that none of the others has; numbers stay whole.

    Long words lose their ends first, so that versions and sizes stay. Where that is not enough the
    middle is cut out, and where two names would look alike, the part that they share.
    """
    if len(name) <= limit:
        return name
    for cut in (_without_word_ends, _without_middle):
        short = cut(name, limit)
        if len(short) <= limit and not any(
            cut(other, limit) == short for other in others if other != name
        ):
            return short
    alike = [other for other in others if other != name and _without_middle(other, limit) == short]
    shared = min(
        next((i for i, (a, b) in enumerate(zip(name, other, strict=False)) if a != b), limit)
        for other in alike
    )
    start = max(0, min(shared - limit // 3, len(name) - limit + 1))
    return ("…" if start else "") + name[start : start + limit - 1]


def _without_word_ends(name: str, limit: int) -> str:
    """The name with the ends of its longest words dropped, as far as they are needed."""
    words = re.split(r"([^\W\d_]{4,})", name)
    kept = {place: len(words[place]) for place in range(1, len(words), 2)}
    over = len(name) - limit
    while over > 0 and kept and max(kept.values()) > 2:
        place = max(kept, key=lambda place: kept[place])
        # The first letter that goes makes room for the ellipsis only.
        over -= kept[place] < len(words[place])
        kept[place] -= 1
    for place, letters in kept.items():
        if letters < len(words[place]):
            words[place] = words[place][:letters] + "…"
    return "".join(words)


def _without_middle(name: str, limit: int) -> str:
    left = limit // 2
    return name[:left] + "…" + name[len(name) - (limit - 1 - left) :]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a misspelled one most likely means."""
    by_lower = {other.lower(): other for other in known}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def not_there(kind: str, name: str, known: Sequence[str], most: int = 40) -> str:
    """What to say of a name that is not there: the nearest one, and those that are."""
    meant = nearest(name, known)
    hint = f"did you mean '{meant}'? " if meant else ""
    listed = ", ".join(known[:most]) or "none"
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return f"no {kind} '{name}'; {hint}there are {listed}{more}"


def whole_number(written: str | int | float) -> int:
    """A number of tokens or attempts: 4000, 4_000, 4k, 4.5k, 1.5M or 1e6."""
    text = str(written).strip().lower()
    match = re.fullmatch(r"(\d+(?:_\d+)*(?:\.\d+)?|\.\d+)(e\d{1,2})?([kmg]?)", text)
    if not match or (match[2] and match[3]):
        raise ValueError(f"'{str(written).strip()}' is not a number like 4000, 4_000, 4.5k or 1e6")
    size = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}[match[3]]
    value = Decimal(match[1].replace("_", "") + (match[2] or "")) * size
    if value != value.to_integral_value():
        raise ValueError(f"'{str(written).strip()}' is not a whole number")
    return int(value)


def whole_numbers(written: str | int | float | Iterable[str | int | float]) -> list[int]:
    """Numbers from '4k,8k', from one number or from several; '4,096' is refused with a question."""
    if isinstance(written, str):
        parts = [part.strip() for part in written.split(",")]
        for place, part in enumerate(parts[1:], 1):
            # A part such as 096 or 000 is no budget: a comma was meant to group digits.
            if re.fullmatch(r"0\d+", part) and re.fullmatch(r"\d+", parts[place - 1]):
                raise ValueError(
                    f"'{written}': did you mean {_joined(parts, place)}? a comma separates budgets"
                )
        return [whole_number(part) for part in parts if part]
    if isinstance(written, int | float):
        return [whole_number(written)]
    return [number for one in written for number in whole_numbers(one)]


def _joined(parts: list[str], place: int) -> str:
    """The number that a comma has split: '4,096' is 4096, '4,096,000' is 4096000."""
    start, end = place - 1, place + 1
    while end < len(parts) and re.fullmatch(r"\d{3}", parts[end]):
        end += 1
    return "".join(parts[start:end])


def quoted(name: str) -> str:
    """A name as an SQL identifier, whatever characters it has."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str | int) -> str:
    """A value as it stands in SQL."""
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
