"""Text helpers: escape, shorten, quote and list names; untrusted text must not control a page."""

import difflib
import re
from collections.abc import Iterable, Sequence

# The mark at the beginning of every caption, page and picture of simulated data.
SIMULATED = "SIMULATED DATA"
NAMES_SHOWN = 40
# Control characters, and characters that reverse the direction of text; XML forbids them.
STEERING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]"
)


def visible(text: str) -> str:
    """Escape every unprintable character of a text (threat model, b)."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def one_line(text: str) -> str:
    """Join the lines of a message and escape it; keep double blanks, in which names may differ."""
    return visible(re.sub(r"\s*[\r\n]\s*", " ", text).strip())


def is_utf8(text: str) -> bool:
    """Return whether a name or text can be encoded in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def steerless(text: str) -> str:
    """Escape the control and direction characters of a text; keep all others."""
    return STEERING.sub(lambda match: visible(match[0]), text)


def shortened(name: str, limit: int, others: Sequence[str] = ()) -> str:
    """Shorten a name to `limit` characters; keep it distinct from the others.

    First long words lose their ends, so that versions and sizes stay. If that is not enough, the
    middle is cut out; if two names would then look alike, the part that they share.
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
    """Cut the ends of a name's longest words until it has `limit` characters."""
    for letters in range(limit, 1, -1):
        # The first letter that goes makes room for the ellipsis only.
        short = re.sub(rf"([^\W\d_]{{{letters}}})[^\W\d_]{{2,}}", r"\1…", name)
        if len(short) <= limit:
            return short
    return name


def _without_middle(name: str, limit: int) -> str:
    """Replace the middle of a name by an ellipsis."""
    left = limit // 2
    return name[:left] + "…" + name[len(name) - (limit - 1 - left) :]


def join_names(names: Sequence[str]) -> str:
    """Join names as in a sentence: a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def first_names(names: Sequence[str], most: int) -> str:
    """List the first names, and how many more there are: a, b and 3 more."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(map(distinct, names[:most])) or "none") + more


def distinct(name: str) -> str:
    """Quote a name that begins or ends with a blank, so that the blank is seen."""
    return name if name == name.strip() else f"'{name}'"


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name most similar to a misspelled one; None if none is."""
    by_lower = {other.lower(): other for other in names}
    matches = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[matches[0]] if matches else None


def not_there(kind: str, name: str, names: Sequence[str]) -> str:
    """Write the error for an unknown name: suggest the nearest one, and list the known ones."""
    meant = nearest(name, names)
    hint = f"did you mean '{meant}'? " if meant else ""
    return f"no {kind} '{name}'; {hint}there are {first_names(names, NAMES_SHOWN)}"


def quoted(name: str) -> str:
    """Quote a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str | int) -> str:
    """Write a value as an SQL literal."""
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def capital(text: str) -> str:
    """Capitalize the first letter of a text."""
    return text[:1].upper() + text[1:]


def plural(count: int, noun: str) -> str:
    """Write a count with its noun: 1 attempt, 2 attempts."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
