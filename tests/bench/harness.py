"""Measuring sides in turn, so that a busy machine slows all of them, and printing the ratios."""

import json
import math
import os
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from audit import database
from audit.load.load import load
from audit.study.simulate import simulate

Row = dict[str, Any]
Seconds = dict[str, list[float]]


@dataclass(frozen=True)
class Line:
    """Keep one line of the table: the ratio of every round."""

    measure: str
    what: str
    ratios: list[float]
    unit: str = ""
    seconds: Seconds = field(default_factory=dict)
    notes: Row = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)


@dataclass(frozen=True)
class Asked:
    """How large a run is wanted, and where its files go."""

    folder: Path
    quick: bool = False
    same_rounds: int | None = None

    @property
    def problems(self) -> int:
        """Problems per competition; the study has 30."""
        return 4 if self.quick else 30

    @property
    def shape(self) -> str:
        return f"2 archives x {4 * self.problems} problems x 80 attempts"

    def rounds(self, usual: int = 5, quick: int = 3) -> int:
        return self.same_rounds or (quick if self.quick else usual)

    def archives(self, texts: str = "final") -> list[Path]:
        """Simulated archives in the study's shape, made once per folder."""
        problems = 1 if self.quick and texts == "full" else self.problems
        folder = self.folder / f"{texts}-{problems}"
        made = sorted(folder.glob("*.parquet"))
        return made if len(made) == 2 else simulate(folder, problems=problems, texts=texts)

    def database(self) -> Path:
        """A database into which they are loaded, to be copied for each round."""
        path = self.folder / f"loaded-{self.problems}.duckdb"
        if not path.exists():
            with database.opened(path, write=True) as con:
                load(con, [str(file) for file in self.archives()])
        return path


def timed(run: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[float, Any]:
    """The seconds that a call takes, and what it returns."""
    begun = time.perf_counter()
    found = run(*arguments, **options)
    return time.perf_counter() - begun, found


def alternate(
    sides: dict[str, Callable[[], tuple[float, Any]]],
    rounds: int,
    check: Callable[[str, Any, Any], None] | None = None,
) -> Seconds:
    """The seconds of every side in every round; the sides' results must be the first one's."""
    seconds: Seconds = {name: [] for name in sides}
    for _ in range(rounds):
        expected: Any = None
        for name, run in sides.items():
            spent, found = run()
            seconds[name].append(spent)
            if expected is None:
                expected = found
            elif check:
                check(name, found, expected)
    return seconds


def ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """The ratio of each round."""
    return [a / b for a, b in zip(above, below, strict=True)]


def check_rows(name: str, found: Iterable[Row], expected: Iterable[Row]) -> None:
    """Stop where two tables differ by more than rounding: then no time means anything."""
    for ours, theirs in zip(found, expected, strict=True):
        assert list(ours) == list(theirs), f"{name}: columns {list(ours)}, not {list(theirs)}"
        for column, value in ours.items():
            other = theirs[column]
            if value != other and not math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-9):
                raise AssertionError(f"{name}: {column} is {value}, not {other}, in {theirs}")


def print_heading() -> None:
    """The first lines of the table."""
    print(f"{'measure':14} {'what':58} {'median':>8}  {'min to max':17} rounds")


def print_line(line: Line) -> None:
    """One line of the table."""
    spread = f"{min(line.ratios):.2f} to {max(line.ratios):.2f}" if len(line.ratios) > 1 else ""
    print(
        f"{line.measure:14} {line.what:58} {line.ratio:8.2f}  {spread:17} {len(line.ratios):6}",
        flush=True,
    )


@cache
def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def as_json(lines: Sequence[Line], asked: Asked, load: tuple[float, float, float]) -> str:
    """The table as JSON, with the seconds behind it and how busy the machine was."""
    found = {
        "shape": asked.shape,
        "quick": asked.quick,
        "cores": cores(),
        "load_before": load,
        "load_after": os.getloadavg(),
        "measures": [{**asdict(line), "ratio": line.ratio} for line in lines],
    }
    return json.dumps(found, indent=2)
