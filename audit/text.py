"""Text from elsewhere, made fit to print: a terminal or a page must show it and never obey it."""

import re

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


def quoted(name: str) -> str:
    """A name as an SQL identifier, whatever characters it has."""
    return '"' + name.replace('"', '""') + '"'
