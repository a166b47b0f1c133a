"""Charts as one look and as files: what every figure shares."""

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
from audit.errors import AuditError, extra_hint
from audit.output.captions import is_simulated
from audit.report.data import Row
from audit.report.pages import html_page, template
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
# A figure up to so many pixels wide is for one column: its words are left to the caption, and it is
# at most as high as this.
NARROW, NARROW_HEIGHT = 400, 4 * 96
FIGURE_SUFFIXES = (".svg", ".pdf", ".png", ".html")


def converter() -> Any:
    """vl-convert, which draws, once it is needed and if it is installed."""
    try:
        import vl_convert
    except ImportError as error:
        raise AuditError("figures need vl-convert: " + extra_hint("report")) from error
    return vl_convert


@dataclass(frozen=True)
class Look:
    """How a figure is set: pixels across (96 an inch), title, font.

    `scale` lowers the panels of a figure that would be too high.
    """

    width: int = TOTAL_WIDTH
    title: str | None = None
    font: str = FONT
    scale: float = 1

    @property
    def is_narrow(self) -> bool:
        """Return whether it is for one column of a paper."""
        return self.width <= NARROW


PLAIN = Look()
# A figure whose rows are read: call it for its specification, with a look or plain.
Drawing = Callable[..., Row]


def frame(con: duckdb.DuckDBPyConnection, title: str, subtitle: str, look: Look) -> dict[str, Any]:
    """Title, subtitle (marked when the data are simulated) and look of a whole figure.

    A title of the caller's own stands alone; an empty one leaves only the mark.
    """
    converter()
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


def filled(name: str, unit: Unit, **values: Any) -> Row:
    """Return the specification that a template of this folder gives with these values."""
    always = COLOURS | {"inline": inline, "unit": unit}
    return json.loads(template(Path(__file__).with_name(f"{name}.json.j2")).render(always | values))


def inline(rows: Iterable[Row], needed: str | None = None) -> Markup:
    """Rows, those that have a value of what is needed, as values of a chart, fit for a picture."""
    shown = [
        {name: steerless(value) if isinstance(value, str) else value for name, value in row.items()}
        for row in rows
        if needed is None or row[needed] is not None
    ]
    return htmlsafe_json_dumps(shown)


def svg(spec: Row) -> str:
    """Return the chart as SVG text."""
    return converter().vegalite_to_svg(spec, allowed_base_urls=[])


def figure_bytes(spec: Row, suffix: str) -> bytes:
    """Return the chart as the content of an SVG, PDF, PNG or offline HTML file."""
    if suffix == ".pdf":
        return converter().svg_to_pdf(_in_points(svg(spec)))
    if suffix == ".png":
        return converter().vegalite_to_png(spec, scale=2, allowed_base_urls=[])
    return (svg(spec) if suffix == ".svg" else _html(spec)).encode()


def _in_points(text: str) -> str:
    """Write an SVG's width and height in points: a PDF has 72 to the inch, a pixel is 1/96."""

    def points(match: re.Match[str]) -> str:
        return f'{match[1]}="{float(match[2]) * 72 / 96:g}"'

    head, close, rest = text.partition(">")
    return re.sub(r'\b(width|height)="([\d.]+)"', points, head) + close + rest


def fitting(draw: Drawing, look: Look) -> Row:
    """Return the chart whose whole picture, axes and labels included, is as wide as asked."""
    width, is_narrow = look.width, look.is_narrow
    for _ in range(8):
        chart = draw(look=look)
        across, down = svg_size(svg(chart))
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


def svg_size(text: str) -> tuple[float, float]:
    """Return the width and the height of an SVG in pixels."""
    head = text.partition(">")[0]
    sizes = (re.search(rf'\b{name}="([\d.]+)"', head) for name in ("width", "height"))
    across, down = (float(size[1]) if size else 0.0 for size in sizes)
    return across, down


def check_suffix(path: Path | str) -> Path:
    """Refuse a name that says no kind of picture, before anything is drawn."""
    if Path(path).suffix.lower() not in FIGURE_SUFFIXES:
        raise AuditError(
            f"cannot write a figure to {path}: use a name ending in {', '.join(FIGURE_SUFFIXES)}"
        )
    return Path(path)


def check_font(font: str | None) -> str:
    """Return the font of all text, a list of them if nothing is asked for."""
    if font and not re.fullmatch(r"[\w .,-]+", font):
        raise AuditError("--font: the name of a font: letters, digits, blanks, '.', ',' and '-'")
    return font or FONT


def save_figure(chart: Row, path: Path | str) -> Path:
    """Write the chart as SVG, PDF, PNG or offline HTML, chosen by the file's suffix."""
    path = check_suffix(path)
    write_whole(path, figure_bytes(chart, path.suffix.lower()))
    return path


def _html(spec: Row) -> str:
    """Return a page that draws the chart by Vega-Embed and fetches nothing."""
    bundle = converter().javascript_bundle("window.vegaEmbed=vegaEmbed;")
    # It may not end the script element that it is in.
    bundle = bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    page = Path(__file__).parent / "figure.html.j2"
    return html_page(page, spec=htmlsafe_json_dumps(spec), bundle=Markup(bundle))


def make_folder(folder: Path) -> None:
    """Make a folder that may be there already."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AuditError(f"cannot write {folder}: {error.strerror or error}") from None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it appears whole or not at all."""
    make_folder(path.parent)
    with atomic_file(path) as partial:
        partial.write_bytes(content)
