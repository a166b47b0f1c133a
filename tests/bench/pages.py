"""The page beside the tables that it holds, and how soon `--help` and one table are there."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from audit import database, engine
from audit.report import build
from tests.bench.apart import apart
from tests.bench.harness import Asked, Line, Seconds, alternate, ratios, timed
from tests.bench.replays import fresh_copy

COMMAND = "from audit.cli import main; main()"


def report(asked: Asked) -> list[Line]:
    """The HTML page beside the tables that it holds, each in a process of its own."""
    with TemporaryDirectory() as scratch:
        path = fresh_copy(asked, scratch)
        with database.opened(path, write=True) as con:
            engine.replay(con)
        sides = {
            name: lambda run=run: apart(run, path, Path(scratch))[0]
            for name, run in (("report", report_side), ("tables", table_side))
        }
        seconds = alternate(sides, asked.rounds(quick=1))
        size = (Path(scratch) / "report.html").stat().st_size
        assert size < 3_000_000, f"the page has {size:,} bytes"
    return [
        Line(
            "report",
            "HTML page / its tables alone",
            ratios(seconds["report"], seconds["tables"]),
            at_most=2,
            seconds=seconds,
        )
    ]


def report_side(path: Path, folder: Path) -> tuple[float, None]:
    """The seconds of the HTML page."""
    with database.opened(path) as con:
        return timed(build.report, con, folder)[0], None


def table_side(path: Path, folder: Path) -> tuple[float, None]:
    """The seconds of every table that the page holds."""
    names = [name for name in engine.table_names() if name != "prefix_boxes"]
    with database.opened(path) as con:
        return timed(lambda: [engine.table(con, name) for name in names])[0], None


def help(asked: Asked) -> list[Line]:
    """`budget-audit --help` beside an import of click, each in a new Python."""
    seconds = beside(["--help"], "import click", asked.rounds(15))
    return [
        Line(
            "help",
            "budget-audit --help / python -c 'import click'",
            ratios(*seconds.values()),
            at_most=3,
            seconds=seconds,
        )
    ]


def table_main(asked: Asked) -> list[Line]:
    """`budget-audit table main` beside an import of what it rests on, each in a new Python."""
    with TemporaryDirectory() as scratch:
        path = fresh_copy(asked, scratch)
        with database.opened(path, write=True) as con:
            engine.replay(con)
        command = ["table", "main", "--db", str(path)]
        seconds = beside(command, "import duckdb, numpy, pyarrow", asked.rounds(9))
    return [
        Line(
            "table_main",
            "budget-audit table main / python -c 'import duckdb, numpy, pyarrow'",
            ratios(*seconds.values()),
            seconds=seconds,
        ),
        Line(
            "table_main",
            "seconds of budget-audit table main",
            seconds["budget-audit"],
            at_most=0.7,
            unit=" s",
        ),
    ]


def beside(command: list[str], code: str, rounds: int) -> Seconds:
    """The seconds of a command, and of some code, each in a new Python and in turn."""
    sides = {
        "budget-audit": lambda: timed(python, COMMAND, *command),
        code: lambda: timed(python, code),
    }
    return alternate(sides, rounds)


def python(code: str, *arguments: str) -> None:
    """Run some code in a new Python."""
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True)
