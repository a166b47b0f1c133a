"""A table for a paper: booktabs, headers in words, a caption, and no wider than its columns."""

import re
from collections.abc import Callable, Sequence

from audit.output.terminal import DisplayColumn, is_grouped
from audit.text import shortened

# Widths in points of one and of both columns of a paper, and of a character at each size.
ONE, BOTH = 240.0, 504.0
SIZES = ((r"\small", 4.62), (r"\footnotesize", 4.25))
SEPARATION = 5.0
NARROW = " .,[]():;'!/ijlt"
WIDEST_TEXT = 28
WIDEST_HEAD = 10


def tex_table(
    name: str,
    columns: Sequence[DisplayColumn],
    rows: int,
    caption: str,
    escape: Callable[[str], str],
) -> str:
    """The rows as a float that fits one column of a paper, or both, at a readable size.

    Rows of one archive stand below its name. Columns that fit in no line stand in further parts
    below, each with the columns that say what a row is.
    """
    grouped = is_grouped(columns, rows)
    kept = list(columns[1:] if grouped else columns)
    texts = {id(column): _cells(column, escape) for column in kept}
    parts, size, is_wide = _laid_out(kept, texts)
    environment = f"table{'*' if is_wide else ''}"
    lines = [
        r"% \usepackage{booktabs}",
        rf"\begin{{{environment}}}[t]",
        r"\centering",
        size,
        r"\setlength{\tabcolsep}{2.5pt}",
        rf"\caption{{{escape(caption)}}}",
        rf"\label{{tab:{name}}}",
    ]
    for part in parts:
        lines += _tabular(part, texts, rows, columns[0] if grouped else None, escape)
    return "\n".join([*lines, rf"\end{{{environment}}}"]) + "\n"


def _laid_out(
    columns: list[DisplayColumn], texts: dict[int, list[str]]
) -> tuple[list[list[DisplayColumn]], str, bool]:
    """The columns in parts, the size, and whether both columns of the page are needed."""
    for limit in (ONE, BOTH):
        for size, character in SIZES:
            if _width(columns, texts, character) <= limit:
                return [columns], size, limit == BOTH
    size, character = SIZES[-1]
    keys = []
    for column in columns:
        if column.numeric and not column.header.endswith(("budget", "cap", "question_id")):
            break
        keys.append(column)
    parts: list[list[DisplayColumn]] = []
    for column in columns[len(keys) :]:
        if not parts or _width([*parts[-1], column], texts, character) > BOTH:
            parts.append(list(keys))
        parts[-1].append(column)
    return parts or [columns], size, True


def _width(
    columns: Sequence[DisplayColumn], texts: dict[int, list[str]], character: float
) -> float:
    """How wide the columns are at most, in points."""
    total = 0.0
    for column in columns:
        heads = [_length(line) for line in _head_lines(column.heading)]
        cells = [_length(text) for text in texts[id(column)]]
        total += max([*heads, *cells, 1]) * character + SEPARATION
    return total


def _length(text: str) -> float:
    """How wide a text is, in digits: a comma takes about half of one, a minus sign more."""
    shown = re.sub(r"\\[a-zA-Z]+(\{\})?", "x", text)
    widths = dict.fromkeys(NARROW, 0.57) | dict.fromkeys("{}$\\", 0.0) | {"-": 1.55}
    return sum(widths.get(character, 1.0) for character in shown)


def _head_lines(heading: str) -> list[str]:
    """A header broken into short lines, because numbers are narrower than their names."""
    lines: list[str] = []
    name, comma, unit = heading.partition(", ")
    for word in name.split(" "):
        if lines and len(lines[-1]) + len(word) < WIDEST_HEAD:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return [*lines, f"({unit})"] if comma else lines


def _cells(column: DisplayColumn, escape: Callable[[str], str]) -> list[str]:
    """The cells as TeX: real minus signs in numbers, long texts cut in the middle."""
    if column.numeric:
        return [re.sub(r"-(?=[\d.])", "$-$", escape(cell)) for cell in column.cells]
    return [escape(_cut(cell)) for cell in column.cells]


def _cut(text: str) -> str:
    """A text shortened so that numbers and what differs at its ends stay."""
    if len(text) <= WIDEST_TEXT:
        return text
    return shortened(text, WIDEST_TEXT - 2).replace("…", "...")


def _tabular(
    columns: Sequence[DisplayColumn],
    texts: dict[int, list[str]],
    rows: int,
    group: DisplayColumn | None,
    escape: Callable[[str], str],
) -> list[str]:
    """One part of the table."""

    def line(cells: Sequence[str]) -> str:
        # After \\ and \midrule a bracket or a star would be read as their argument.
        guard = "{}" if cells and cells[0][:1] in ("[", "*") else ""
        return guard + " & ".join(cells) + r" \\"

    sides = ["r" if column.numeric else "l" for column in columns]
    heads = [
        rf"\shortstack[{side}]{{"
        + r"\\".join(escape(text) for text in _head_lines(c.heading))
        + "}"
        for c, side in zip(columns, sides, strict=True)
    ]
    lines = [rf"\begin{{tabular}}{{@{{}}{''.join(sides)}@{{}}}}", r"\toprule", line(heads)]
    for row in range(rows):
        if group is None:
            if row == 0:
                lines.append(r"\midrule")
        elif row == 0 or group.cells[row] != group.cells[row - 1]:
            name = escape(group.cells[row])
            lines.append(r"\midrule")
            lines.append(rf"\multicolumn{{{len(columns)}}}{{@{{}}l}}{{\emph{{{name}}}}} \\")
        lines.append(line([texts[id(column)][row] for column in columns]))
    return [*lines, r"\bottomrule", r"\end{tabular}", ""]
