"""Tables as aligned lines of text: every column in a pipe, what fits on a terminal."""

import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from audit.text import shortened, visible

WIDEST_CELL = 60
NARROWEST_CELL, NARROWEST_TEXT = 10, 20
BOLD, DIM, RED, YELLOW, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m", "\x1b[0m"
# Words that a reader must not overlook.
LOUD = {"fail": RED, "failed": RED, "warn": YELLOW}

# Columns up to this rank of `shown_first` are shown even where names must be shortened for them.
KEY_RANK, ALWAYS_SHOWN, LAST_RANK = 1, 3, 9


@dataclass(frozen=True)
class DisplayColumn:
    """One printed column: its name, its cells as plain unescaped text, its heading in words."""

    header: str
    cells: list[str]
    numeric: bool
    shown_first: int = LAST_RANK
    heading: str = ""


def lay_out(columns: Sequence[DisplayColumn], rows: int, *, stacked: bool = False) -> str:
    """Write all columns at full width as a text table; `stacked` breaks long headers."""
    return _draw([_Column(column, WIDEST_CELL if stacked else None) for column in columns], rows)


def fit_to_width(columns: Sequence[DisplayColumn], rows: int, width: int) -> tuple[str, list[str]]:
    """Write the columns that fit the width as a text table; return it and the names left out.

    Important columns go first. Where not even those fit, each archive's name becomes a heading
    above its rows, and names are shortened.
    """
    group = None
    typeset = [_Column(column, min(WIDEST_CELL, width)) for column in columns]
    least = _add_widths(
        one.width if column.shown_first <= KEY_RANK else one.needed
        for column, one in zip(columns, typeset, strict=True)
        if column.shown_first <= ALWAYS_SHOWN
    )
    if least > width and is_grouped(columns, rows):
        group, columns, typeset = columns[0], columns[1:], typeset[1:]
    chosen: list[int] = []
    for place in sorted(range(len(columns)), key=lambda at: (columns[at].shown_first, at)):
        # Names are shortened to make room only for the columns that are always shown.
        is_always = columns[place].shown_first <= ALWAYS_SHOWN
        whole = [at for at in chosen if columns[at].shown_first <= KEY_RANK and not is_always]
        needed = [typeset[at].width if at in whole else typeset[at].needed for at in chosen]
        if not chosen or _add_widths([*needed, typeset[place].needed]) <= width:
            chosen.append(place)
    widths = {place: typeset[place].width for place in chosen}
    for place in reversed(chosen):
        excess = max(0, _add_widths(widths.values()) - width)
        widths[place] = max(widths[place] - excess, typeset[place].needed)
    left_out = [column.header for place, column in enumerate(columns) if place not in chosen]
    shown = [_Column(columns[place], widths[place]) for place in sorted(chosen)]
    return _draw(shown, rows, styled=True, group=group), left_out


def _add_widths(widths: Iterable[int]) -> int:
    """Return the total width of columns with two blanks between them."""
    return sum(width + 2 for width in widths) - 2


def is_grouped(columns: Sequence[DisplayColumn], rows: int) -> bool:
    """Return whether the first column is the archive, with several rows in sequence for each."""
    if len(columns) < 3 or columns[0].header != "archive":
        return False
    cells = columns[0].cells
    runs = sum(1 for row in range(rows) if not row or cells[row] != cells[row - 1])
    return runs == len(set(cells)) and rows >= 2 * runs


class _Column:
    """A column broken into lines of text, header and cells, and its width."""

    def __init__(self, column: DisplayColumn, widest: int | None) -> None:
        self.numeric = column.numeric
        names = [visible(cell) for cell in column.cells]
        lines = {name: _cell_lines(name, widest, column.shown_first, names) for name in set(names)}
        self.cells = [lines[name] for name in names]
        header = visible(column.header)
        inside = max((count_cells(line) for cell in self.cells for line in cell), default=0)
        # On a terminal a header may take several lines: strict_accuracy is wider than 61.25.
        self.header = [header] if widest is None else _wrap_header(header, inside, widest)
        self.width = max([inside, *map(count_cells, self.header)])
        # A name can be shortened far; a sentence needs more room to be readable.
        is_sentence = KEY_RANK < column.shown_first < LAST_RANK
        least = NARROWEST_TEXT if is_sentence else NARROWEST_CELL
        self.needed = self.width if column.numeric else min(self.width, least)


def _cell_lines(text: str, widest: int | None, rank: int, others: list[str]) -> list[str]:
    """Fit a cell to a width: shorten a name, wrap a sentence, cut a query's value."""
    if widest is None or count_cells(text) <= widest:
        return [text]
    if count_cells(text) > len(text) or rank == LAST_RANK:
        return [_cut_end(text, widest)]
    if rank == KEY_RANK:
        return [shortened(text, widest, list(dict.fromkeys(others)))]
    return textwrap.wrap(text, widest, break_on_hyphens=False)


def _wrap_header(header: str, inside: int, widest: int) -> list[str]:
    """Break a header between words, to the width of its cells or of its longest word."""
    gap = "_" if "_" in header else " "
    words = header.replace(gap, " ")
    most = max(inside, *map(count_cells, words.split(" ")))
    lines = textwrap.wrap(words, most) or [header]
    return [_cut_end(line.replace(" ", gap), widest) for line in lines]


def _draw(
    columns: Sequence[_Column],
    rows: int,
    *,
    styled: bool = False,
    group: DisplayColumn | None = None,
) -> str:
    """Write columns as a text table: header, rule, and the rows, under group headings if any."""

    def line(cells: list[str], style: str = "") -> str:
        padded = [_pad_cell(cell, column) for cell, column in zip(cells, columns, strict=True)]
        if styled and not style:
            padded = [_add_style(cell, LOUD.get(cell.strip(), "")) for cell in padded]
        return _add_style("  ".join(padded).rstrip(), style if styled else "")

    tall = max((len(column.header) for column in columns), default=1)
    headers = [["", *[""] * (tall - len(c.header) - 1), *c.header][-tall:] for c in columns]
    text = [line([header[row] for header in headers], BOLD) for row in range(tall)]
    text.append(line(["-" * column.width for column in columns], DIM))
    for row in range(rows):
        if group and (not row or group.cells[row] != group.cells[row - 1]):
            text.append(_add_style(visible(group.cells[row]), BOLD if styled else ""))
        cells = [column.cells[row] for column in columns]
        for part in range(max(map(len, cells), default=1)):
            text.append(line([cell[part] if part < len(cell) else "" for cell in cells]))
    return "\n".join(text if rows else [*text, "(no rows)"]) + "\n"


def _add_style(text: str, style: str) -> str:
    return f"{style}{text}{PLAIN}" if style and text else text


def _pad_cell(text: str, column: _Column) -> str:
    gap = " " * (column.width - count_cells(text))
    return gap + text if column.numeric else text + gap


def _cut_end(text: str, widest: int) -> str:
    """Replace the end of a text that is too wide by an ellipsis."""
    if count_cells(text) <= widest:
        return text
    characters, room = [], widest - 1
    for character in text:
        room -= count_cells(character)
        if room < 0:
            break
        characters.append(character)
    return "".join(characters) + "…"


def count_cells(text: str) -> int:
    """Return how many columns of a terminal a text takes: wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
