"""Printed columns as lines of text: whole in a pipe, fitted to the width of a terminal."""

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


def lines_of(columns: Sequence[DisplayColumn], rows: int, *, stacked: bool = False) -> str:
    """Lay out every column whole, for a pipe or a wide terminal; stack headers if asked to."""
    return _lines([_Set(column, WIDEST_CELL if stacked else None) for column in columns], rows)


def fitted(columns: Sequence[DisplayColumn], rows: int, width: int) -> tuple[str, list[str]]:
    """Return the columns that fit the width, the important ones first, and the others' names.

    Where not even those that are always shown fit, the rows of an archive stand below its name,
    and names are shortened.
    """
    group = None
    typeset = [_Set(column, min(WIDEST_CELL, width)) for column in columns]
    least = _total(
        one.width if column.shown_first <= KEY_RANK else one.needed
        for column, one in zip(columns, typeset, strict=True)
        if column.shown_first <= ALWAYS_SHOWN
    )
    if least > width and is_grouped(columns, rows):
        group, columns, typeset = columns[0], columns[1:], typeset[1:]
    chosen: list[int] = []
    for place in sorted(range(len(columns)), key=lambda at: (columns[at].shown_first, at)):
        # Names are shortened for what is always shown, and stay whole for any other column.
        is_always = columns[place].shown_first <= ALWAYS_SHOWN
        whole = [at for at in chosen if columns[at].shown_first <= KEY_RANK and not is_always]
        needed = [typeset[at].width if at in whole else typeset[at].needed for at in chosen]
        if not chosen or _total([*needed, typeset[place].needed]) <= width:
            chosen.append(place)
    widths = {place: typeset[place].width for place in chosen}
    for place in reversed(chosen):
        excess = max(0, _total(widths.values()) - width)
        widths[place] = max(widths[place] - excess, typeset[place].needed)
    left_out = [column.header for place, column in enumerate(columns) if place not in chosen]
    shown = [_Set(columns[place], widths[place]) for place in sorted(chosen)]
    return _lines(shown, rows, styled=True, group=group), left_out


def _total(widths: Iterable[int]) -> int:
    """Return how wide columns are together, with two blanks between them."""
    return sum(width + 2 for width in widths) - 2


def is_grouped(columns: Sequence[DisplayColumn], rows: int) -> bool:
    """Return whether the first column names archives that have several rows each in a row."""
    if len(columns) < 3 or columns[0].header != "archive":
        return False
    cells = columns[0].cells
    runs = sum(1 for row in range(rows) if not row or cells[row] != cells[row - 1])
    return runs == len(set(cells)) and rows >= 2 * runs


class _Set:
    """A column set in type: the lines of its header and of its cells, and how wide they are."""

    def __init__(self, column: DisplayColumn, widest: int | None) -> None:
        self.numeric = column.numeric
        names = [visible(cell) for cell in column.cells]
        lines = {name: _cell_lines(name, widest, column.shown_first, names) for name in set(names)}
        self.cells = [lines[name] for name in names]
        header = visible(column.header)
        inside = max((cells_wide(line) for cell in self.cells for line in cell), default=0)
        # On a terminal a header may take several lines: strict_accuracy is wider than 61.25.
        self.header = [header] if widest is None else _wrapped(header, inside, widest)
        self.width = max([inside, *map(cells_wide, self.header)])
        # A key may be shortened to little; a sentence needs some room to be read.
        is_sentence = KEY_RANK < column.shown_first < LAST_RANK
        least = NARROWEST_TEXT if is_sentence else NARROWEST_CELL
        self.needed = self.width if column.numeric else min(self.width, least)


def _cell_lines(text: str, widest: int | None, rank: int, others: list[str]) -> list[str]:
    """Cut a cell that is too wide: shorten a key, wrap a table's text, cut a query's."""
    if widest is None or cells_wide(text) <= widest:
        return [text]
    if cells_wide(text) > len(text) or rank == LAST_RANK:
        return [_cut(text, widest)]
    if rank == KEY_RANK:
        return [shortened(text, widest, list(dict.fromkeys(others)))]
    return textwrap.wrap(text, widest, break_on_hyphens=False)


def _wrapped(header: str, inside: int, widest: int) -> list[str]:
    """Return a header broken between its words, as wide as its cells or as its longest word."""
    gap = "_" if "_" in header else " "
    words = header.replace(gap, " ")
    most = max(inside, *map(cells_wide, words.split(" ")))
    lines = textwrap.wrap(words, most) or [header]
    return [_cut(line.replace(" ", gap), widest) for line in lines]


def _lines(
    columns: Sequence[_Set],
    rows: int,
    *,
    styled: bool = False,
    group: DisplayColumn | None = None,
) -> str:
    def line(cells: list[str], style: str = "") -> str:
        padded = [_padded(cell, column) for cell, column in zip(cells, columns, strict=True)]
        if styled and not style:
            padded = [_styled(cell, LOUD.get(cell.strip(), "")) for cell in padded]
        return _styled("  ".join(padded).rstrip(), style if styled else "")

    tall = max((len(column.header) for column in columns), default=1)
    headers = [["", *[""] * (tall - len(c.header) - 1), *c.header][-tall:] for c in columns]
    text = [line([header[row] for header in headers], BOLD) for row in range(tall)]
    text.append(line(["-" * column.width for column in columns], DIM))
    for row in range(rows):
        if group and (not row or group.cells[row] != group.cells[row - 1]):
            text.append(_styled(visible(group.cells[row]), BOLD if styled else ""))
        cells = [column.cells[row] for column in columns]
        for part in range(max(map(len, cells), default=1)):
            text.append(line([cell[part] if part < len(cell) else "" for cell in cells]))
    return "\n".join(text if rows else [*text, "(no rows)"]) + "\n"


def _styled(text: str, style: str) -> str:
    return f"{style}{text}{PLAIN}" if style and text else text


def _padded(text: str, column: _Set) -> str:
    gap = " " * (column.width - cells_wide(text))
    return gap + text if column.numeric else text + gap


def _cut(text: str, widest: int) -> str:
    """Return the text, its end replaced by an ellipsis where it is too wide."""
    if cells_wide(text) <= widest:
        return text
    characters, room = [], widest - 1
    for character in text:
        room -= cells_wide(character)
        if room < 0:
            break
        characters.append(character)
    return "".join(characters) + "…"


def cells_wide(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
