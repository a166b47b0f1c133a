"""The report as text: templates in which every value is escaped unless it is finished markup."""

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from audit.output.display import DisplayColumn, md_table, md_text
from audit.output.tex import tex_long, tex_text
from audit.text import steerless

HERE = Path(__file__).parent
WIDEST_CELL = 60
# Signs that neither Markdown nor TeX uses.
SIGNS = {
    "block_start_string": "<%",
    "block_end_string": "%>",
    "variable_start_string": "<<",
    "variable_end_string": ">>",
    "comment_start_string": "<#",
    "comment_end_string": "#>",
}
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


@functools.cache
def template(
    path: Path, escape: Callable[[str], str] | None = None, **more: Any
) -> jinja2.Template:
    """Return a template that escapes everything put in by a format's rule (threat model, b)."""

    def escaped(value: Any) -> Any:
        return escape(str(value)) if escape and not isinstance(value, Markup) else value

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(path.parent),
        finalize=escaped,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **more,
    )
    return environment.get_template(path.name)


def html_page(path: Path, **values: Any) -> str:
    """Return an HTML template filled in, everything escaped."""
    return template(path, steerless, autoescape=True).render(values)


def _text_page(name: str, escape: Callable[[str], str], values: dict[str, Any]) -> str:
    """Return a Markdown or LaTeX template filled in."""
    helpers = {"raw": Markup, "call": lambda macro, *arguments: Markup(macro(*arguments))}
    return template(HERE / name, escape, **SIGNS).render(helpers | values)


def markdown(content: dict[str, Any]) -> str:
    """Return the report as one Markdown text; its figures stand beside it."""
    return _text_page("report.md.j2", md_text, content | {"table_text": _clipped_table})


def _clipped_table(columns: list[DisplayColumn], rows: int) -> str:
    """Return a table whose cells cannot push it apart; exports hold the whole text."""

    def clipped(text: str) -> str:
        return text if len(text) <= WIDEST_CELL else text[: WIDEST_CELL - 1] + "…"

    return md_table([replace(c, cells=[clipped(cell) for cell in c.cells]) for c in columns], rows)


def latex(content: dict[str, Any]) -> str:
    """Return the report as one LaTeX text, for plain pdflatex; its figures stand beside it."""
    page = _text_page("report.tex.j2", tex_text, content | {"table_text": tex_long})
    return page.replace("%DECLARATIONS%", _tex_declarations(page))


def _tex_declarations(text: str) -> str:
    """Return a declaration for each character that plain pdflatex would stop at."""
    lines = []
    for c in sorted({c for c in text if not _TEX_KNOWN.match(c)}):
        shown = _TEX_OWN.get(c, rf"[U+{ord(c):04X}]\allowbreak{{}}")
        lines.append(rf"\DeclareUnicodeCharacter{{{ord(c):04X}}}{{{shown}}}")
    return "\n".join(lines)
