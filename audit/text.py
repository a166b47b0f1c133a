"""Text from elsewhere, made fit to print: a terminal must show it and never obey it."""


def visible(text: str) -> str:
    """The text on one line with every unprintable character written as its escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def one_line(text: str) -> str:
    """A message on one line, whatever was in the names it quotes."""
    return visible(" ".join(text.split()))
