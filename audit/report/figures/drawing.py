"""What all figures share: their look, and their conversion to files."""

import json
import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from audit.database.leftovers import atomic_file
from audit.errors import AuditError, install_hint
from audit.output.captions import is_simulated
from audit.report.data import Row
from audit.report.pages import load_template, render_html
from audit.text import SIMULATED, steerless
from audit.units import Unit

# Okabe and Ito's palette, for colour-blind readers; shapes and dashes repeat it in print.
COLOURS = {
    "BLUE": "#0072B2",
    "VERMILLION": "#D55E00",
    "GREEN": "#009E73",
    "PURPLE": "#CC79A7",
    "INK": "#222222",
    "GREY": "#767676",
}
FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"
# How every figure looks, as a configuration of Vega-Lite.
LOOK = Path(__file__).with_name("look.json")
TOTAL_WIDTH = 940
# A figure up to this width in pixels is for one column of a paper: it has no subtitle, and it is at
# most this high.
NARROW, NARROW_HEIGHT = 400, 4 * 96
FIGURE_SUFFIXES = (".svg", ".pdf", ".png", ".html")


def load_converter() -> Any:
    """Import vl-convert, which draws the figures, when it is first needed."""
    try:
        import vl_convert
    except ImportError as error:
        raise AuditError("figures need vl-convert: " + install_hint("report")) from error
    return vl_convert


@dataclass(frozen=True)
class Look:
    """The size and style of a figure: width in pixels (96 an inch), title, font.

    `scale` multiplies the height of panels, for a figure that would be too high.
    """

    width: int = TOTAL_WIDTH
    title: str | None = None
    font: str = FONT
    scale: float = 1

    @property
    def is_narrow(self) -> bool:
        """Return whether the figure is for one column of a paper."""
        return self.width <= NARROW


PLAIN = Look()
# A figure with its rows already read; called with a look, it returns its specification.
Drawing = Callable[..., Row]


def frame(con: duckdb.DuckDBPyConnection, title: str, subtitle: str, look: Look) -> dict[str, Any]:
    """Return a figure's title, subtitle and configuration; mark simulated data.

    A title in `look` replaces title and subtitle; an empty one leaves only the mark.
    """
    load_converter()
    mark = [f"{SIMULATED}, not a model's output"] if is_simulated(con) else []
    is_explained = look.title is None and not look.is_narrow
    below = textwrap.wrap(subtitle, max(30, look.width // 7)) if is_explained else []
    shown = steerless(title if look.title is None else look.title)
    heading = {
        "text": textwrap.wrap(shown, max(20, look.width // 9)),
        "subtitle": [*mark, *below],
    }
    config = {"font": look.font, **json.loads(LOOK.read_text(encoding="utf-8"))}
    if look.is_narrow:
        config["title"] |= {"fontSize": 12, "offset": 6}
        config["axis"] |= {"labelFontSize": 9, "titleFontSize": 10}
        config["legend"] |= {"labelFontSize": 10, "symbolSize": 50, "rowPadding": 0}
        config["concat"] = {"spacing": 10}
    return {"title": heading, "background": "white", "padding": 8, "config": config}


def fill(name: str, unit: Unit, **values: Any) -> Row:
    """Render a template of this folder with these values, and return the specification."""
    always = COLOURS | {"inline": inline_rows, "unit": unit}
    path = Path(__file__).with_name(f"{name}.json.j2")
    return json.loads(load_template(path).render(always | values))


def inline_rows(rows: Iterable[Row], needed: str | None = None) -> Markup:
    """Write rows as JSON for a chart, control characters escaped; skip those without `needed`."""
    shown = [
        {name: steerless(value) if isinstance(value, str) else value for name, value in row.items()}
        for row in rows
        if needed is None or row[needed] is not None
    ]
    return htmlsafe_json_dumps(shown)


def render_svg(spec: Row) -> str:
    """Render a chart as SVG text."""
    return load_converter().vegalite_to_svg(spec, allowed_base_urls=[])


def figure_bytes(spec: Row, suffix: str) -> bytes:
    """Render a chart as the content of an SVG, PDF, PNG or offline HTML file."""
    if suffix == ".pdf":
        return load_converter().svg_to_pdf(_convert_to_points(render_svg(spec)))
    if suffix == ".png":
        return load_converter().vegalite_to_png(spec, scale=2, allowed_base_urls=[])
    return (render_svg(spec) if suffix == ".svg" else _render_page(spec)).encode()


def _convert_to_points(text: str) -> str:
    """Convert an SVG's width and height from pixels (96 an inch) to points (72), for PDF."""

    def scale(match: re.Match[str]) -> str:
        return f'{match[1]}="{float(match[2]) * 72 / 96:g}"'

    head, close, rest = text.partition(">")
    return re.sub(r'\b(width|height)="([\d.]+)"', scale, head) + close + rest


def fit_figure(draw: Drawing, look: Look) -> Row:
    """Draw a chart until its whole picture, with axes and labels, has the width asked for."""
    width, is_narrow = look.width, look.is_narrow
    for _ in range(8):
        chart = draw(look=look)
        across, down = measure_svg(render_svg(chart))
        too_high = max(0.0, down - NARROW_HEIGHT) if is_narrow else 0.0
        if abs(across - width) < 1 and not too_high:
            break
        look = replace(
            look,
            width=max(120, round(look.width - across + width)),
            # About half of a low figure is axes and words, which keep their height.
            scale=look.scale * max(0.3, 1 - 1.7 * too_high / down),
        )
    return chart


def measure_svg(text: str) -> tuple[float, float]:
    """Read the width and the height of an SVG, in pixels."""
    head = text.partition(">")[0]
    sizes = (re.search(rf'\b{name}="([\d.]+)"', head) for name in ("width", "height"))
    across, down = (float(size[1]) if size else 0.0 for size in sizes)
    return across, down


def check_suffix(path: Path | str) -> Path:
    """Refuse a file name without the suffix of a picture; return it as a path."""
    if Path(path).suffix.lower() not in FIGURE_SUFFIXES:
        raise AuditError(
            f"cannot write a figure to {path}: use a name ending in {', '.join(FIGURE_SUFFIXES)}"
        )
    return Path(path)


def check_font(font: str | None) -> str:
    """Validate the name of a font; return it, or the default fonts if it is missing."""
    if font and not re.fullmatch(r"[\w .,-]+", font):
        raise AuditError("--font: the name of a font: letters, digits, blanks, '.', ',' and '-'")
    return font or FONT


def save_figure(chart: Row, path: Path | str) -> Path:
    """Write the chart as SVG, PDF, PNG or offline HTML, chosen by the file's suffix."""
    path = check_suffix(path)
    write_whole(path, figure_bytes(chart, path.suffix.lower()))
    return path


def _render_page(spec: Row) -> str:
    """Render an offline HTML page that draws the chart by Vega-Embed."""
    bundle = load_converter().javascript_bundle("window.vegaEmbed=vegaEmbed;")
    # These characters in the bundle would end the script element that holds it.
    bundle = bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    page = Path(__file__).parent / "figure.html.j2"
    return render_html(page, spec=htmlsafe_json_dumps(spec), bundle=Markup(bundle))


def make_folder(folder: Path) -> None:
    """Make a folder unless it exists."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AuditError(f"cannot write {folder}: {error.strerror or error}") from None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, which appears only when it is complete."""
    make_folder(path.parent)
    with atomic_file(path) as partial:
        partial.write_bytes(content)
