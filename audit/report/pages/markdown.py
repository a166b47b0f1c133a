"""The report in Markdown."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from audit.output.display import DisplayColumn, md_table, md_text
from audit.report.pages.templates import text_page

WIDEST_CELL = 60


def markdown(content: dict[str, Any]) -> str:
    """The report as one Markdown text; its figures stand beside it."""
    template = Path(__file__).parent / "report.md.j2"
    return text_page(template, md_text, **content | {"table_text": _table})


def _table(columns: list[DisplayColumn], rows: int) -> str:
    """A table whose cells cannot push it apart; exports hold the whole text."""
    return md_table([replace(c, cells=[_clipped(cell) for cell in c.cells]) for c in columns], rows)


def _clipped(text: str) -> str:
    return text if len(text) <= WIDEST_CELL else text[: WIDEST_CELL - 1] + "…"
