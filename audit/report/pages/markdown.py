"""The report in Markdown."""

from pathlib import Path
from typing import Any

from audit.output.headings import heading
from audit.report.pages.templates import text_page
from audit.report.wording import minus

_MD = {c: "\\" + c for c in "\\`*_[]|~$#"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def md_text(text: str) -> str:
    """Text on one line with the characters that Markdown reads as markup escaped."""
    return "".join(_MD.get(c, c if c.isprintable() else " ") for c in text)


def markdown(content: dict[str, Any]) -> str:
    """The report as one Markdown text; its figures stand beside it."""
    template = Path(__file__).parent / "report.md.j2"
    helpers = {"heading": heading, "minus": minus}
    return text_page(template, md_text, **content | helpers)
