"""Commands that write pages and pictures: demo, report, figure."""

import webbrowser
from typing import Any

import click

import audit
from audit.cli.commands import main
from audit.cli.options import list_names, show_notes
from audit.errors import AuditError
from audit.options import split_names
from audit.progress import bar


@main.command()
def demo(**options: Any) -> None:
    """Load, replay and report recorded attempts that ship with it.

    They are of nine model configurations; nothing is fetched.

    Example: budget-audit demo --out demo
    """
    made = audit.demo(**{**options, "progress": bar})
    click.echo(made.caption)
    for note in made.notes:
        click.echo(note)
    for row in made:
        click.echo(f"{row['what']:8}  {row['where']}")


@main.command()
@click.option(
    "--texts",
    is_flag=False,
    flag_value="some",
    type=click.Choice(["some", "all"]),
    help="Put what attempts wrote beside the page, to read by a click; over 50 MB: --texts=all.",
)
@click.option("--open", "is_opened", is_flag=True, help="Open the page in a browser.")
def report(formats: tuple[str, ...], is_opened: bool = False, **options: Any) -> None:
    """Write the report: a page to explore, or findings as text.

    Example: budget-audit report --db audit.duckdb --out report --format html,csv
    """
    if is_opened and "html" not in split_names(formats):
        raise AuditError("--open: shows the HTML page; add html to --format")
    written = audit.report(formats=formats, **options)
    for path in written:
        click.echo(str(path))
    if is_opened:
        address = next(path for path in written if path.suffix == ".html").resolve().as_uri()
        if not webbrowser.open(address):
            show_notes(f"no browser could be started; open {address}")


@main.command()
@click.argument("name", required=False)
def figure(name: str | None = None, **options: Any) -> None:
    """Draw one figure for a paper; without a name, list the figures.

    The options from --competition to --cap choose the replay of the timeline.

    Example: budget-audit figure budget_curve --out curve.pdf --width 3.3in
    """
    if name is None:
        list_names((row["figure"], row["shows"]) for row in audit.figures())
        return
    drawn = audit.figure(name=name, **options)
    click.echo(str(drawn))
    show_notes(f"caption: {drawn.caption}")
