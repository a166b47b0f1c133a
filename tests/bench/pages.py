"""The report beside altair's own pages of the same charts, and how soon `--help` is there."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from audit import database, engine
from audit.report import build, drawing
from tests.bench.apart import apart
from tests.bench.harness import Asked, Line, alternate, ratios, timed
from tests.bench.replays import fresh_copy

COMMAND = "from audit.cli import main; main()"


def report(asked: Asked) -> list[Line]:
    """The HTML report; what its tables take is taken off, for altair has none.

    Every side has a process of its own, as a report has: altair keeps its script once it is made.
    """
    with TemporaryDirectory() as scratch:
        path = fresh_copy(asked, scratch)
        with database.opened(path, write=True) as con:
            engine.replay(con)
        sides = {
            name: lambda run=run: apart(run, path, Path(scratch))[0]
            for name, run in (
                ("report", report_side),
                ("tables", table_side),
                ("altair", altair_side),
            )
        }
        seconds = alternate(sides, asked.rounds(quick=1))
        check_report(Path(scratch))
    without = [a - b for a, b in zip(seconds["report"], seconds["tables"], strict=True)]
    return [
        Line(
            "report",
            "(HTML report - its tables) / altair's inline pages",
            ratios(without, seconds["altair"]),
            at_most=2,
            seconds=seconds,
        )
    ]


def report_side(path: Path, folder: Path) -> tuple[float, None]:
    """The seconds of the HTML report."""
    drawing.altair_module()
    with database.opened(path) as con:
        return timed(build.report, con, folder)[0], None


def table_side(path: Path, folder: Path) -> tuple[float, None]:
    """The seconds of every table that the report holds."""
    names = [name for name in engine.table_names() if name != "prefix_boxes"]
    with database.opened(path) as con:
        return timed(lambda: [engine.table(con, name) for name in names])[0], None


def altair_side(path: Path, folder: Path) -> tuple[float, None]:
    """The seconds of altair's own inline page of each chart of the report."""
    alt = drawing.altair_module()
    with database.opened(path) as con:
        specs = {figure.name: figure.wide for figure in build._figures(con, {}) if figure.wide}
    charts = [(folder / f"{name}.html", alt.Chart.from_dict(spec)) for name, spec in specs.items()]
    spent, _ = timed(lambda: [chart.save(path, inline=True) for path, chart in charts])
    (folder / "specs.json").write_text(drawing.script_json(specs))
    return spent, None


def check_report(folder: Path) -> None:
    """The report holds the very charts that altair saved."""
    specs = (folder / "specs.json").read_text()
    assert specs in (folder / "report.html").read_text(), "the report has other charts"


def help(asked: Asked) -> list[Line]:
    """`budget-audit --help` beside an import of click, each in a new Python."""
    sides = {
        "budget-audit": lambda: timed(python, COMMAND, "--help"),
        "import click": lambda: timed(python, "import click"),
    }
    seconds = alternate(sides, asked.rounds(15))
    return [
        Line(
            "help",
            "budget-audit --help / python -c 'import click'",
            ratios(seconds["budget-audit"], seconds["import click"]),
            at_most=3,
            seconds=seconds,
        )
    ]


def python(code: str, *arguments: str) -> None:
    """Run some code in a new Python."""
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True)
