"""Tables in LaTeX (booktabs), split so that they fit the page."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from audit.output.terminal import DisplayColumn, is_grouped
from audit.text import SIMULATED, shortened

# Sizes at which a table may fill a width: name, points of a character and of a line.
SMALL = ((r"\small", 4.62, 11.0), (r"\footnotesize", 4.25, 9.5))
SMALLER = ((r"\footnotesize", 4.25, 9.5), (r"\scriptsize", 3.8, 8.0))
# Points of one and of both columns of a paper, and of a landscape page of the report.
ONE, BOTH, LANDSCAPE = 240.0, 504.0, 728.0
# A wider table spans both columns of a paper.
WIDEST_COLUMN = 260
# Points from the top to the bottom of a page of a paper, and of a line of its caption.
POINTS_PER_PIXEL = 72.27 / 96
HEIGHT, CAPTION_LINE, CAPTION_CHARACTER = 620.0, 12.0, 4.9
SEPARATION = 5.0
# Widths of Computer Modern's characters, in widths of a digit; all others are 1.
WIDTHS = (
    dict.fromkeys("{}\\$", 0.0)
    | dict.fromkeys(".,[]:;'!ijl", 0.56)
    | dict.fromkeys(" ()/ftrs", 0.79)
    | dict.fromkeys("bdhknpquvxy", 1.11)
    | dict.fromkeys("ABCDEFGHIJKLNOPQRSTUVXYZ-", 1.55)
    | dict.fromkeys("mw%@MW", 1.7)
)
# Most characters of a text; the smaller limits are tried when key columns fill the width.
WIDEST_TEXTS = (28, 18, 12)
WIDEST_HEAD = 10
ESCAPED = {c: "\\" + c for c in "{}$&#%_"} | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "×": r"$\times$",
}


class Layout(NamedTuple):
    """A table split into groups of columns, printed below each other at one font size.

    Values of `group` are headings above their rows; `texts` are the cells as TeX, by column.
    """

    group: DisplayColumn | None
    parts: list[list[DisplayColumn]]
    texts: dict[int, list[str]]
    width: float
    size: str
    line: float


def tex_text(text: str) -> str:
    """Escape TeX's special characters in a text, and drop control characters."""
    text = re.sub(r"\s", " ", text)
    return "".join(ESCAPED.get(c, c) for c in text if not unicodedata.category(c).startswith("C"))


def tex_tabular(columns: Sequence[DisplayColumn], rows: int) -> str:
    """Write the rows of a query as a LaTeX tabular, without float and caption."""
    texts = {id(column): _to_tex(column, column.cells) for column in columns}
    return "\n".join(_tabulate(columns, texts, range(rows), None)) + "\n"


def tex_float(
    name: str, columns: Sequence[DisplayColumn], rows: int, caption: str, width: float = 0
) -> str:
    """Write the rows as LaTeX floats of a width in points (0: one or both columns of the page).

    The rows of an archive follow its name. Columns that do not fit are printed below the others,
    with the key columns repeated; rows that do not fit on a page go to further floats.
    """
    layout = _lay_out(columns, rows, [width] if width else [ONE, BOTH], SMALL)
    environment = f"table{'*' if layout.width > WIDEST_COLUMN else ''}"
    mark = f"{SIMULATED}. " if caption.startswith(SIMULATED) else ""
    lines = [r"% \usepackage{booktabs}"]
    for start, stop in _split_rows(layout, rows, caption):
        lines += [rf"\begin{{{environment}}}[t]", r"\centering", layout.size]
        lines += [r"\setlength{\tabcolsep}{2.5pt}"]
        if start:
            again = rf"\caption{{{mark}{tex_text(name)}, continued.}}"
            lines += [r"\addtocounter{table}{-1}", again]
        else:
            lines += [rf"\caption{{{tex_text(caption)}}}", rf"\label{{tab:{name}}}"]
        for part in layout.parts:
            lines += [*_tabulate(part, layout.texts, range(start, stop), layout.group), ""]
        lines.append(rf"\end{{{environment}}}")
    return "\n".join(lines) + "\n"


def tex_long(columns: Sequence[DisplayColumn], rows: int) -> str:
    """Write the rows as longtables on landscape pages, which may break across pages."""
    layout = _lay_out(columns, rows, [LANDSCAPE], SMALLER)
    lines = [f"{{{layout.size}", "", r"\setlength{\tabcolsep}{2.5pt}"]
    for part in layout.parts:
        lines += _tabulate(part, layout.texts, range(rows), layout.group, environment="longtable")
    return "\n".join([*lines, "}"]) + "\n"


def _lay_out(
    columns: Sequence[DisplayColumn],
    rows: int,
    widths: Sequence[float],
    sizes: Sequence[tuple[str, float, float]],
) -> Layout:
    """Choose the first width and font size that fit all columns; else split the columns.

    Texts are cut shorter until every part fits.
    """
    group = columns[0] if is_grouped(columns, rows) else None
    shown = list(columns[1:] if group else columns)
    for widest in WIDEST_TEXTS:
        texts = {id(c): _to_tex(c, [_clip(cell, widest) for cell in c.cells]) for c in shown}
        for width in widths:
            for size, character, line in sizes:
                parts = [shown]
                if _measure_columns(shown, texts, character) <= width:
                    return Layout(group, parts, texts, width, size, line)
        parts = _split_columns(shown, texts, character, width)
        if all(_measure_columns(part, texts, character) <= width for part in parts):
            break
    return Layout(group, parts, texts, width, size, line)


def _split_columns(
    columns: list[DisplayColumn], texts: dict[int, list[str]], character: float, width: float
) -> list[list[DisplayColumn]]:
    """Split columns into groups that fit the width, each with the key columns first."""
    keys = list(
        takewhile(
            lambda c: not c.numeric or c.header.endswith(("budget", "cap", "question_id")), columns
        )
    )
    parts: list[list[DisplayColumn]] = []
    for column in columns[len(keys) :]:
        if not parts or _measure_columns([*parts[-1], column], texts, character) > width:
            parts.append(list(keys))
        parts[-1].append(column)
    return parts or [columns]


def _to_tex(column: DisplayColumn, texts: Sequence[str]) -> list[str]:
    """Escape cells for TeX, with real minus signs in numbers."""
    if column.numeric:
        return [re.sub(r"-(?=[\d.])", "$-$", tex_text(cell)) for cell in column.cells]
    return [tex_text(text) for text in texts]


def _clip(text: str, widest: int) -> str:
    """Shorten a text to this many characters; keep its numbers and its ends."""
    if len(text) <= widest:
        return text
    return shortened(text, widest - 2).replace("…", "...")


def _split_rows(layout: Layout, rows: int, caption: str) -> list[tuple[int, int]]:
    """Split the rows into floats that fit a page each; return the first row and end of each."""
    group = layout.group
    heads = sum(
        max(len(_break_header(column.heading)) for column in part) + 2 for part in layout.parts
    )
    lines = -(-len(caption) * CAPTION_CHARACTER // layout.width) + 1
    room = HEIGHT - heads * layout.line - lines * CAPTION_LINE
    pages, start = [], 0
    for row in range(rows):
        is_new = group and (row == start or group.cells[row] != group.cells[row - 1])
        needed = (2.4 if is_new else 1) * layout.line * len(layout.parts)
        if needed > room and row > start:
            pages.append((start, row))
            # The caption of a further float is one line.
            start, room = row, HEIGHT - heads * layout.line - 2 * CAPTION_LINE
        room -= needed
    return [*pages, (start, rows)]


def _measure_columns(
    columns: Sequence[DisplayColumn], texts: dict[int, list[str]], character: float
) -> float:
    """Estimate the width of columns, in points."""
    total = 0.0
    for column in columns:
        heads = [_measure_text(line) for line in _break_header(column.heading)]
        cells = [_measure_text(text) for text in texts[id(column)]]
        total += max([*heads, *cells, 1]) * character + SEPARATION
    return total


def _measure_text(text: str) -> float:
    """Estimate the width of a text, in widths of a digit."""
    shown = re.sub(r"\\([a-zA-Z]+(\{\})?|\$)", "x", text)
    return sum(WIDTHS.get(character, 1.0) for character in shown)


def _break_header(heading: str) -> list[str]:
    """Break a heading into short lines: numbers are narrower than their names."""
    lines: list[str] = []
    name, comma, unit = heading.partition(", ")
    for word in name.split(" "):
        if lines and len(lines[-1]) + len(word) < WIDEST_HEAD:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return [*lines, f"({unit})"] if comma else lines


def _write_header(column: DisplayColumn) -> str:
    """Write a column's heading as TeX, in several lines if it has several words."""
    lines = [tex_text(line) for line in _break_header(column.heading)]
    stacked, side = r"\\".join(lines), "r" if column.numeric else "l"
    return stacked if len(lines) == 1 else rf"\shortstack[{side}]{{{stacked}}}"


def _tabulate(
    columns: Sequence[DisplayColumn],
    texts: dict[int, list[str]],
    rows: range,
    group: DisplayColumn | None,
    *,
    environment: str = "tabular",
) -> list[str]:
    """Write one part of the table as a tabular, or as a longtable that repeats its header."""

    def line(cells: Sequence[str]) -> str:
        # After \\ and \midrule a bracket or a star would be read as their argument.
        guard = "{}" if cells and cells[0][:1] in ("[", "*") else ""
        return guard + " & ".join(cells) + r" \\"

    sides = "".join("r" if column.numeric else "l" for column in columns)
    lines = [rf"\begin{{{environment}}}{{@{{}}{sides}@{{}}}}", r"\toprule"]
    lines.append(line([_write_header(column) for column in columns]))
    if environment == "longtable":
        lines += [r"\midrule", r"\endhead", r"\bottomrule", r"\endlastfoot"]
    for row in rows:
        is_new = row == rows.start or (group and group.cells[row] != group.cells[row - 1])
        if environment == "tabular" and is_new:
            lines.append(r"\midrule")
        if group and is_new:
            name = tex_text(group.cells[row])
            lines.append(rf"\multicolumn{{{len(columns)}}}{{@{{}}l}}{{\emph{{{name}}}}} \\")
        lines.append(line([texts[id(column)][row] for column in columns]))
    if environment == "tabular":
        lines += [r"\bottomrule"]
    return [*lines, rf"\end{{{environment}}}"]
