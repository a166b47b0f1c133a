"""Templates: every value is escaped for its format unless it is marked as finished markup."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from audit.text import steerless


def _finalize(escape: Callable[[str], str]) -> Callable[[Any], Any]:
    def finalize(value: Any) -> Any:
        return value if isinstance(value, Markup) else escape(str(value))

    return finalize


def html_page(path: Path, **values: Any) -> str:
    """An HTML template filled in, everything escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(path.parent),
        autoescape=True,
        finalize=_finalize(steerless),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(path.name).render(values)


def text_page(path: Path, escape: Callable[[str], str], **values: Any) -> str:
    """A Markdown or LaTeX template filled in, everything escaped by that format's rule."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(path.parent),
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        finalize=_finalize(escape),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    helpers = {"raw": Markup, "call": lambda macro, *arguments: Markup(macro(*arguments))}
    return environment.get_template(path.name).render(helpers | values)
