"""The commands that end in something to look at: demo, report, figure, timeline."""

import inspect
import re
import webbrowser
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click

from audit.cli.options import Tokens, bar, database, heavy, opened, priced
from audit.errors import AuditError
from audit.text import one_line

# One and two columns of a paper, in inches.
PRESETS = {"one": 3.3, "two": 6.9}


class Width(click.ParamType):
    """A width on paper: 3.3in, 84mm, 240pt, or one or two columns."""

    name = "width"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """The width in pixels, 96 an inch."""
        if isinstance(value, int):
            return value
        text = str(value).strip().lower()
        if text in PRESETS:
            return round(96 * PRESETS[text])
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(in|cm|mm|pt)", text)
        units = {"in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "pt": 96 / 72}
        width = float(match[1]) * units[match[2]] if match else 0.0
        if not 150 <= width <= 4000:
            self.fail(
                f"'{value}' is not a width like 3.3in, 84mm, 240pt, one or two (columns)",
                param,
                ctx,
            )
        return round(width)


@click.command()
@click.option(
    "--out", default="demo", show_default=True, metavar="DIR", help="Where everything goes."
)
@click.option("--simulated", is_flag=True, help="Simulated archives in the study's shape instead.")
@heavy
def demo(out: str, simulated: bool, threads: int | None, memory: str | None) -> None:
    """Recorded attempts of nine model configurations, replayed and reported in one go, offline.

    Example: budget-audit demo --out demo
    """
    from audit import database, engine
    from audit.load.load import load
    from audit.report import report as write_report
    from audit.report.story import small_table, story
    from audit.study import recorded
    from audit.study.simulate import simulate

    folder = Path(out)
    limits: dict[str, Any] = {"threads": threads, "memory": memory}
    db = folder / "audit.duckdb"
    files = simulate(folder / "archives") if simulated else [recorded.FILE]
    if not simulated:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise AuditError(f"{folder}: cannot be made a folder: {error.strerror}") from None
    with opened(str(db), write=True, row_group=database.LOADED_ROW_GROUP, **limits) as con:
        answer = "boxed" if simulated else "archive"
        load(con, [str(path) for path in files], replace=True, answer=answer)
    settings: dict[str, Any] = {}
    if not simulated:
        settings = {
            "budgets": (4000, 8000, 16000, 32000, 64000),
            "caps": (4, 8),
            "primary_cap": 8,
        }
        if "policies" in inspect.signature(engine.replay).parameters:
            settings["policies"] = "all"
    with opened(str(db), write=True, row_group=database.REPLAYED_ROW_GROUP, **limits) as con:
        engine.replay(con, progress=bar("replay"), **settings)
    with opened(str(db), **limits) as con:
        written = write_report(con, folder / "report", progress=bar("report"))
        for line in story(con):
            click.echo(line)
        click.echo()
        click.echo(small_table(con), nl=False)
        click.echo()
        for line in recorded.credits(con):
            click.echo(line)
    if simulated:
        click.echo("This is simulated data: it shows the tool, it says nothing about any model.")
    click.echo(f"database  {db}")
    for path in written:
        click.echo(f"page      {path}")


@click.command()
@database
@click.option(
    "--out", default="report", show_default=True, metavar="DIR", help="Where the report goes."
)
@click.option("--format", "fmt", default="html", show_default=True, help="Any of html,md,tex,csv.")
@click.option("--title", help="The report's title (default: the data's name).")
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
@priced
@heavy
def report(
    db: str,
    out: str,
    fmt: str,
    title: str | None,
    show: bool,
    price_input: float | None,
    price_output: float | None,
    threads: int | None,
    memory: str | None,
) -> None:
    """Write the report: a page to explore, offline; or findings, figures and tables as text.

    Example: budget-audit report --db audit.duckdb --out report --format html,csv
    """
    from audit.output.prices import prices
    from audit.report import report as write_report

    money = prices(price_input, price_output)
    wanted = [part.strip() for part in fmt.split(",") if part.strip()]
    if show and "html" not in wanted:
        raise AuditError("--open: shows the HTML page; add html to --format")
    with opened(db, threads=threads, memory=memory) as con:
        written = write_report(con, Path(out), wanted, money, title=title, progress=bar("report"))
    for path in written:
        click.echo(str(path))
    if show:
        address = next(path for path in written if path.suffix == ".html").resolve().as_uri()
        if not webbrowser.open(address):
            click.echo(f"no browser could be started; open {address}", err=True)


def replay_options(command: Any) -> Any:
    """Options that name one replay."""
    options = (
        click.option("--competition", help="Default: the first."),
        click.option(
            "--question", "--problem", type=int, help="The question_id; default: the first."
        ),
        click.option(
            "--repeat", type=int, help="The order, 0 the canonical one; default: the first."
        ),
        click.option("--budget", type=Tokens(), help="Default: the smallest."),
        click.option("--cap", type=int, help="Default: the primary cap."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("name", required=False)
@database
@click.option("--out", metavar="FILE", help="Where the picture goes: .svg, .pdf, .png or .html.")
@click.option(
    "--archive",
    "archives",
    multiple=True,
    metavar="NAME",
    help="Only these archives; * stands for anything.",
)
@click.option("--width", type=Width(), help="3.3in, 84mm, 240pt, or one or two (columns).")
@click.option("--title", help="Another title; '' for none.")
@click.option("--font", help="The font of all text.")
@replay_options
def figure(
    name: str | None,
    db: str,
    out: str | None,
    archives: tuple[str, ...],
    width: int | None,
    title: str | None,
    font: str | None,
    **replay: Any,
) -> None:
    """Draw one figure for a paper; without a name, list the figures.

    Example: budget-audit figure budget_curve --out curve.pdf --width 3.3in
    """
    from audit.database import require_replays
    from audit.report import FIGURES, Look, save_figure
    from audit.report.captions import FIGURES as PURPOSES
    from audit.report.figures.drawing import FONT, PLAIN, check_suffix, fitting

    known = [*FIGURES, "timeline"]
    if name is None:
        for known_name in known:
            click.echo(f"{known_name:15}{PURPOSES[known_name][0].split('. ')[0]}")
        return
    if name not in known:
        raise AuditError(f"no figure '{one_line(name)}'; there are {', '.join(known)}")
    if name != "timeline" and any(value is not None for value in replay.values()):
        given = next(key for key, value in replay.items() if value is not None)
        raise AuditError(f"--{given}: only the timeline shows one replay")
    path = Path(out or f"{name}.svg")
    check_suffix(path)
    look = Look(width or PLAIN.width, title=title, font=font or FONT)
    with opened(db) as con:
        require_replays(con)
        chosen = _archives(con, archives)
        if name == "timeline":
            chart = _timeline(con, chosen[0] if chosen else None, replay, look, width is not None)
        else:
            options: dict[str, Any] = {"archives": chosen}
            if width is None:
                chart = FIGURES[name](con, look, **options)
            else:
                chart = fitting(lambda look: FIGURES[name](con, look, **options), look)
        click.echo(str(save_figure(chart, path)))


def _archives(con: Any, patterns: tuple[str, ...]) -> list[str] | None:
    """The archives that the patterns name, in order; None where none is given."""
    if not patterns:
        return None
    known = [name for (name,) in con.execute("select archive from archives order by 1").fetchall()]
    for pattern in patterns:
        if not any(name == pattern or fnmatchcase(name, pattern) for name in known):
            listed = ", ".join(one_line(name) for name in known[:12])
            more = f" and {len(known) - 12} more" if len(known) > 12 else ""
            raise AuditError(f"no archive '{one_line(pattern)}'; there are {listed}{more}")
    return [
        name
        for name in known
        if any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)
    ]


def _timeline(con: Any, archive: str | None, replay: dict[str, Any], look: Any, fit: bool) -> Any:
    """One replay as a chart."""
    from audit.report import timeline as draw
    from audit.report.figures.drawing import fitting

    budget = replay["budget"]
    if budget is not None and len(budget) != 1:
        raise AuditError("--budget: a picture shows one budget")

    def make(look: Any) -> Any:
        return draw(
            con,
            archive,
            replay["competition"],
            replay["question"],
            replay["repeat"],
            budget[0] if budget else None,
            replay["cap"],
            look=look,
        )

    return fitting(make, look) if fit else make(look)


@click.command()
@database
@click.option("--archive", help="Default: the first.")
@replay_options
@click.option(
    "--out",
    default="timeline.svg",
    show_default=True,
    metavar="FILE",
    help="Where the picture goes: .svg, .pdf, .png or .html.",
)
def timeline(db: str, archive: str | None, out: str, **replay: Any) -> None:
    """Draw one replay on a token axis: what each rule returns and pays.

    Example: budget-audit timeline --competition AIME24 --question 3 --repeat 5 --budget 4k
    """
    from audit.database import require_replays
    from audit.report import save_figure
    from audit.report.figures.drawing import PLAIN

    with opened(db) as con:
        require_replays(con)
        chart = _timeline(con, archive, replay, PLAIN, False)
        click.echo(str(save_figure(chart, Path(out))))
