"""The report in LaTeX, for plain pdflatex."""

import re
from pathlib import Path
from typing import Any

from markupsafe import Markup

from audit.output.display import DisplayColumn, tex_text
from audit.output.headings import heading
from audit.report.pages.templates import text_page
from audit.report.wording import minus, one_line

TEX_CELL = 32

# Characters that plain pdflatex sets by itself, and how to write the report's own others.
_TEX_KNOWN = re.compile(
    "[\x00-\x7f\u00a0-\u0125\u0128-\u0137\u0139-\u013e\u0141-\u0148\u014a-\u0165"
    "\u0168-\u017e\u2013\u2014\u2018-\u201a\u201c-\u201e\u2026→]"
)
_TEX_OWN = {
    "−": r"\ensuremath{-}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "√": r"\ensuremath{\surd}",
    "π": r"\ensuremath{\pi}",
    "∞": r"\ensuremath{\infty}",
}


def _tex_declarations(text: str) -> str:
    """A declaration for each character that plain pdflatex would stop at."""
    lines = []
    for c in sorted({c for c in text if not _TEX_KNOWN.match(c)}):
        shown = _TEX_OWN.get(c, rf"[U+{ord(c):04X}]\allowbreak{{}}")
        lines.append(rf"\DeclareUnicodeCharacter{{{ord(c):04X}}}{{{shown}}}")
    return "\n".join(lines)


def _tex_cell(text: str, numeric: bool, first: bool = False) -> Markup:
    shown = tex_text(minus(text) if numeric else one_line(text, TEX_CELL))
    # After \\ a bracket or a star would be read as its argument.
    return Markup(("{}" if first and shown[:1] in ("[", "*") else "") + shown)


def _tex_head(column: DisplayColumn) -> Markup:
    """A header broken into short lines, because numbers are narrower than their names."""
    lines: list[str] = []
    for word in heading(column.header).split(" "):
        if lines and len(lines[-1]) + len(word) < 9:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    side = "r" if column.numeric else "l"
    stacked = r"\\".join(tex_text(line) for line in lines)
    return Markup(rf"\shortstack[{side}]{{{stacked}}}")


def latex(content: dict[str, Any]) -> str:
    """The report as one LaTeX text; its figures stand beside it."""
    page = text_page(
        Path(__file__).parent / "report.tex.j2",
        tex_text,
        **content | {"cell": _tex_cell, "head": _tex_head},
    )
    return page.replace("%DECLARATIONS%", _tex_declarations(page))
