"""The commands that end in something to look at: demo, report, figure."""

import webbrowser
from typing import Any

import click

import audit
from audit.cli.commands import main
from audit.cli.options import (
    WIDTH,
    archive_filter,
    bar,
    database,
    heavy,
    list_names,
    show_notes,
    takes_options,
)
from audit.errors import AuditError
from audit.options import OneReplay


@main.command()
@click.option(
    "--out", default="demo", show_default=True, metavar="DIR", help="Where everything goes."
)
@click.option("--simulated", is_flag=True, help="Simulated archives in the study's shape instead.")
@click.option("--agents", is_flag=True, help="Recorded agent runs instead, budgeted in dollars.")
@click.option("--forced", is_flag=True, help="Recorded attempts with forced answers instead.")
@heavy
def demo(out: str, **options: Any) -> None:
    """Load, replay and report recorded attempts that ship with it.

    They are of nine model configurations; nothing is fetched.

    Example: budget-audit demo --out demo
    """
    made = audit.demo(out, progress=bar, **options)
    click.echo(made.caption)
    for note in made.notes:
        click.echo(note)
    for row in made:
        click.echo(f"{row['what']:8}  {row['where']}")


@main.command()
@database
@click.option(
    "--out", default="report", show_default=True, metavar="DIR", help="Where the report goes."
)
@click.option("--format", "fmt", default="html", show_default=True, help="Any of html,md,tex,csv.")
@click.option("--title", help="The report's title (default: the data's name).")
@click.option(
    "--texts",
    is_flag=False,
    flag_value="some",
    type=click.Choice(["some", "all"]),
    help="Put what attempts wrote beside the page, to read by a click; over 50 MB: --texts=all.",
)
@click.option("--open", "is_opened", is_flag=True, help="Open the page in a browser.")
@archive_filter
@heavy
def report(db: str, out: str, fmt: str, is_opened: bool, **options: Any) -> None:
    """Write the report: a page to explore, or findings as text.

    Example: budget-audit report --db audit.duckdb --out report --format html,csv
    """
    if is_opened and "html" not in fmt.split(","):
        raise AuditError("--open: shows the HTML page; add html to --format")
    written = audit.report(db, out, formats=fmt, progress=bar("report"), **options)
    for path in written:
        click.echo(str(path))
    if is_opened:
        address = next(path for path in written if path.suffix == ".html").resolve().as_uri()
        if not webbrowser.open(address):
            show_notes(f"no browser could be started; open {address}")


@main.command()
@click.argument("name", required=False)
@database
@click.option("--out", metavar="FILE", help="Where the picture goes: .svg, .pdf, .png or .html.")
@archive_filter
@click.option("--order", metavar="NAME,…", help="Archives that come first.")
@click.option("--width", type=WIDTH, help="3.3in, 84mm, 240pt, or one or two (columns).")
@click.option("--title", help="Another title; '' for none.")
@click.option("--font", help="The font of all text.")
@takes_options(OneReplay)
def figure(name: str | None, db: str, **options: Any) -> None:
    """Draw one figure for a paper; without a name, list the figures.

    The options from --competition to --cap choose the replay of the timeline.

    Example: budget-audit figure budget_curve --out curve.pdf --width 3.3in
    """
    if name is None:
        list_names((row["figure"], row["shows"]) for row in audit.figures())
        return
    drawn = audit.figure(db, name, **options)
    click.echo(str(drawn))
    show_notes(f"caption: {drawn.caption}")
