"""Render the report's templates; every value is escaped unless it is markup already."""

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from audit.output.display import DisplayColumn, escape_md, md_table
from audit.output.tex import tex_long, tex_text
from audit.text import steerless

HERE = Path(__file__).parent
WIDEST_CELL = 60
# Delimiters of our templates that mean nothing in Markdown and TeX.
SIGNS = {
    "block_start_string": "<%",
    "block_end_string": "%>",
    "variable_start_string": "<<",
    "variable_end_string": ">>",
    "comment_start_string": "<#",
    "comment_end_string": "#>",
}
# Characters that plain pdflatex can set, and how to write the others that the report uses.
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
def load_template(
    path: Path, escape: Callable[[str], str] | None = None, **more: Any
) -> jinja2.Template:
    """Load a template; `escape` is applied to every value that it prints (threat model, b)."""

    def escape_value(value: Any) -> Any:
        return escape(str(value)) if escape and not isinstance(value, Markup) else value

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(path.parent),
        finalize=escape_value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **more,
    )
    return environment.get_template(path.name)


def render_html(path: Path, **values: Any) -> str:
    """Render an HTML template with these values, which are escaped."""
    return load_template(path, steerless, autoescape=True).render(values)


def _render(name: str, escape: Callable[[str], str], values: dict[str, Any]) -> str:
    """Render a Markdown or LaTeX template of this folder with these values."""
    helpers = {"raw": Markup, "call": lambda macro, *arguments: Markup(macro(*arguments))}
    return load_template(HERE / name, escape, **SIGNS).render(helpers | values)


def render_markdown(content: dict[str, Any]) -> str:
    """Render the report as Markdown; its figures are separate files."""
    return _render("report.md.j2", escape_md, content | {"table_text": _clip_table})


def _clip_table(columns: list[DisplayColumn], rows: int) -> str:
    """Write a Markdown table with cells cut at WIDEST_CELL; exports hold the whole text."""

    def clip(text: str) -> str:
        return text if len(text) <= WIDEST_CELL else text[: WIDEST_CELL - 1] + "…"

    return md_table([replace(c, cells=[clip(cell) for cell in c.cells]) for c in columns], rows)


def render_latex(content: dict[str, Any]) -> str:
    """Render the report as LaTeX for plain pdflatex; its figures are separate files."""
    page = _render("report.tex.j2", tex_text, content | {"table_text": tex_long})
    return page.replace("%DECLARATIONS%", _declare_characters(page))


def _declare_characters(text: str) -> str:
    """Declare each character of a text that plain pdflatex does not know."""
    lines = []
    for c in sorted({c for c in text if not _TEX_KNOWN.match(c)}):
        shown = _TEX_OWN.get(c, rf"[U+{ord(c):04X}]\allowbreak{{}}")
        lines.append(rf"\DeclareUnicodeCharacter{{{ord(c):04X}}}{{{shown}}}")
    return "\n".join(lines)
