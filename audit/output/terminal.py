"""Printed columns as lines of text: whole in a pipe, fitted to the width of a terminal."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from audit.text import visible

WIDEST_CELL = 60
NARROWEST_CELL = 12
BOLD, DIM, RED, YELLOW, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m", "\x1b[0m"
# Words that a reader must not overlook.
LOUD = {"fail": RED, "failed": RED, "warn": YELLOW}

# Where a table has more columns than fit, these are shown first; the others follow in their order.
TELLING = {
    "main": """archive budget delta strict_cost advisory_cost strict_accuracy advisory_accuracy
        strict_coverage advisory_coverage""",
    "curves": "archive budget rule accuracy cost coverage cost_ratio",
    "cost_comparisons": """archive advisory_budget strict_budget delta cost_difference
        advisory_accuracy strict_accuracy cost_ratio""",
    "interpolation": "archive advisory_budget advisory_cost delta advisory_accuracy",
    "transitions": "archive budget selector fixes harms abstain_to_correct wrong_to_correct",
    "selection_events": """archive budget selector competition question_id repeat strict_answer
        advisory_answer strict_correct advisory_correct""",
    "budget_curve": "archive budget delta strict_cost advisory_cost strict_accuracy",
    "matched_cost": """archive advisory_budget strict_budget delta advisory_cost strict_cost
        equivalence_margin exhausted""",
    "archive_comparisons": "archive other rule budget delta cost_difference accuracy cost",
    "policies": "archive policy rule budget accuracy delta cost_saved cost answer_kept",
    "data_quality": "archive check severity share advice",
    "check": "check violations looked_at claim",
}


@dataclass(frozen=True)
class DisplayColumn:
    """One printed column: its header, its cells as plain unescaped text, and how it aligns."""

    header: str
    cells: list[str]
    numeric: bool


def lines_of(columns: Sequence[DisplayColumn], rows: int) -> str:
    """Every column and every cell whole, for a pipe or a wide terminal."""
    return _lines([_Set(column, None) for column in columns], rows)


def fitted(
    columns: Sequence[DisplayColumn], rows: int, width: int, name: str | None = None
) -> tuple[str, list[str]]:
    """The most telling columns that fit the width, in their order, and the names of the others."""
    telling = TELLING.get(name or "", "").split()
    rank = {header: place for place, header in enumerate(telling)}
    placed = list(enumerate(columns))
    chosen: dict[int, _Set] = {}
    room = width
    for place, column in sorted(placed, key=lambda one: (rank.get(one[1].header, 999), one[0])):
        one = _Set(column, min(WIDEST_CELL, width))
        if not column.numeric and one.width > room - 2 >= NARROWEST_CELL:
            # The last text that fits is cut rather than left out.
            one = _Set(column, room - 2 if chosen else room)
        needed = one.width + (2 if chosen else 0)
        if needed <= room or not chosen:
            chosen[place] = one
            room -= needed
    left_out = [column.header for place, column in placed if place not in chosen]
    return _lines([chosen[place] for place in sorted(chosen)], rows, styled=True), left_out


class _Set:
    """A column set in type: the lines of its header, its cells, and how wide they are."""

    def __init__(self, column: DisplayColumn, widest: int | None) -> None:
        self.numeric = column.numeric
        self.cells = [_cut(visible(cell), widest) for cell in column.cells]
        header = visible(column.header)
        inside = max(map(cells_wide, self.cells), default=0)
        # On a terminal a header may take several lines: strict_accuracy is wider than 61.25.
        self.header = [header] if widest is None else _wrapped(header, inside, widest)
        self.width = max([inside, *map(cells_wide, self.header)])


def _wrapped(header: str, inside: int, widest: int) -> list[str]:
    """A header broken at its underscores, as wide as its cells or as its longest word."""
    words = header.split("_")
    most = max(inside, *map(cells_wide, words))
    lines = [words[0]]
    for word in words[1:]:
        joined = f"{lines[-1]}_{word}"
        if cells_wide(joined) <= most:
            lines[-1] = joined
        else:
            lines.append(word)
    return [_cut(line, widest) for line in lines]


def _lines(columns: Sequence[_Set], rows: int, *, styled: bool = False) -> str:
    def line(cells: list[str], style: str = "") -> str:
        padded = [_padded(cell, column) for cell, column in zip(cells, columns, strict=True)]
        if styled and not style:
            padded = [_styled(cell, LOUD.get(cell.strip(), "")) for cell in padded]
        return _styled("  ".join(padded).rstrip(), style if styled else "")

    tall = max((len(column.header) for column in columns), default=1)
    headers = [["", *[""] * (tall - len(c.header) - 1), *c.header][-tall:] for c in columns]
    text = [line([header[row] for header in headers], BOLD) for row in range(tall)]
    text.append(line(["-" * column.width for column in columns], DIM))
    text += [line([column.cells[row] for column in columns]) for row in range(rows)]
    return "\n".join(text if rows else [*text, "(no rows)"]) + "\n"


def _styled(text: str, style: str) -> str:
    return f"{style}{text}{PLAIN}" if style and text else text


def _padded(text: str, column: _Set) -> str:
    gap = " " * (column.width - cells_wide(text))
    return gap + text if column.numeric else text + gap


def _cut(text: str, widest: int | None) -> str:
    """The text, its end replaced by an ellipsis where it is too wide."""
    if widest is None or cells_wide(text) <= widest:
        return text
    kept, room = [], widest - 1
    for character in text:
        room -= cells_wide(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + "…"


def cells_wide(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
