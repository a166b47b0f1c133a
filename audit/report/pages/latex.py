"""The report in LaTeX, for plain pdflatex."""

import re
from pathlib import Path
from typing import Any

from audit.output.tex import tex_long, tex_text
from audit.report.pages.templates import text_page

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


def latex(content: dict[str, Any]) -> str:
    """The report as one LaTeX text; its figures stand beside it."""
    page = text_page(
        Path(__file__).parent / "report.tex.j2",
        tex_text,
        **content | {"table_text": tex_long},
    )
    return page.replace("%DECLARATIONS%", _tex_declarations(page))
