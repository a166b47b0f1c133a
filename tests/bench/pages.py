"""How soon `--help` and one table are there."""

import subprocess
import sys
from tempfile import TemporaryDirectory

from audit import database, engine
from tests.bench.harness import Asked, Line, Seconds, alternate, ratios, timed
from tests.bench.replays import fresh_copy

COMMAND = "from audit.cli import main; main()"


def help(asked: Asked) -> list[Line]:
    """`budget-audit --help` beside an import of click, each in a new Python."""
    seconds = beside(["--help"], "import click", asked.rounds(15))
    return [
        Line(
            "help",
            "budget-audit --help / python -c 'import click'",
            ratios(*seconds.values()),
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
