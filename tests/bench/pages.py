"""The report beside altair's own pages of the same charts, and how soon `--help` is there."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from audit import engine
from audit.report import build, drawing
from tests.bench.harness import Asked, Line, alternate, ratios, timed
from tests.bench.replays import fresh_copy

COMMAND = "from audit.cli import main; main()"


def report(asked: Asked) -> list[Line]:
    """The HTML report; what its tables take is taken off, for altair has none."""
    with TemporaryDirectory() as scratch:
        database = fresh_copy(asked, scratch)
        with engine.opened(database, write=True) as con:
            engine.replay(con)
        with engine.opened(database) as con:
            charts = {
                figure.name: drawing.altair_module().Chart.from_dict(figure.wide)
                for figure in build._figures(con)
                if figure.wide is not None
            }
            names = [name for name in engine.table_names() if name != "prefix_boxes"]
            sides = {
                "report": lambda: timed(build.report, con, Path(scratch) / "report"),
                "tables": lambda: timed(lambda: [engine.table(con, name) for name in names]),
                "altair": lambda: timed(save_all, charts, Path(scratch)),
            }
            seconds = alternate(sides, asked.rounds())
            check_report(Path(scratch) / "report" / "report.html", charts)
    without = [a - b for a, b in zip(seconds["report"], seconds["tables"], strict=True)]
    return [
        Line(
            "report",
            f"(HTML report - its tables) / altair's {len(charts)} inline pages",
            ratios(without, seconds["altair"]),
            at_most=2,
            seconds=seconds,
        )
    ]


def save_all(charts: dict, folder: Path) -> None:
    """altair's own inline page of each chart."""
    for name, chart in charts.items():
        chart.save(folder / f"{name}.html", inline=True)


def check_report(page: Path, charts: dict) -> None:
    """The report holds the very charts that altair saves."""
    text = page.read_text()
    for name, chart in charts.items():
        spec = drawing.script_json(drawing.vega_lite_spec(chart))
        assert spec in text, f"the report has another chart {name}"


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
