"""Replays, from a loaded database to `main` with its intervals, beside what a user would write."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from audit import database, engine
from tests.bench.apart import apart
from tests.bench.harness import Asked, Line, Row, alternate, check_rows, ratios, timed
from tests.bench.yardsticks import vectorized
from tests.bench.yardsticks.protocol import ATTEMPTS, Settings

GIB = 2**30


def replay_20(asked: Asked) -> list[Line]:
    """Replay 20 orders."""
    return replay_lines(asked, "replay_20", 20)


def replay_200(asked: Asked) -> list[Line]:
    """Replay 200 orders."""
    return replay_lines(asked, "replay_200", 60 if asked.quick else 200)


def replay_1000(asked: Asked) -> list[Line]:
    """Replay 1,000 orders."""
    return replay_lines(asked, "replay_1000", 150 if asked.quick else 1000, rounds=3)


def replay_lines(asked: Asked, measure: str, orders: int, rounds: int = 5) -> list[Line]:
    """Compare a replay with the same by hand."""
    settings = Settings(orders=orders)
    sides: dict[str, Callable[[], tuple[float, Any]]] = {
        "budget-audit": lambda: engine_side(asked, settings),
        "numpy": numpy_side(read_attempts(asked.database()), settings),
    }
    seconds = alternate(sides, asked.rounds(rounds), check_rows)
    what = f"{orders} orders, seconds: budget-audit / numpy"
    return [Line(measure, what, ratios(*seconds.values()), seconds=seconds)]


def read_attempts(path: Path) -> Any:
    """The attempts as an Arrow table, bank by bank in the order of their seeds."""
    with database.opened(path) as con:
        return con.sql(ATTEMPTS).to_arrow_table()


def numpy_side(attempts: Any, settings: Settings) -> Callable[[], tuple[float, list[Row]]]:
    """NumPy by hand, from its own form of the attempts to `main`."""
    form = vectorized.prepare(attempts)

    def run() -> list[Row]:
        return vectorized.tabulate(form, vectorized.replay(form, settings), settings).main

    return lambda: timed(run)


def engine_side(asked: Asked, settings: Settings) -> tuple[float, list[Row]]:
    """The tool from a loaded database to `main`."""
    with TemporaryDirectory() as folder:
        return timed_main(fresh_copy(asked, folder), settings)


def fresh_copy(asked: Asked, folder: str) -> Path:
    """The loaded database, copied so that every round begins alike."""
    return Path(shutil.copy(asked.database(), Path(folder) / "bench.duckdb"))


def timed_main(
    path: Path, settings: Settings, memory: str | None = None
) -> tuple[float, list[Row]]:
    """The seconds to open, replay and read `main`, and its rows."""
    begun = time.perf_counter()
    con = database.connect(path, memory=memory, row_group=database.REPLAYED_ROW_GROUP)
    try:
        engine.replay(con, **settings._asdict())
        rows = engine.table(con, "main").to_pylist()
        return time.perf_counter() - begun, rows
    finally:
        con.close()


def growth(asked: Asked) -> list[Line]:
    """Seconds per order as orders grow, and what it takes in memory and leaves on disk."""
    few, many = (20, 200) if asked.quick else (100, 10_000)
    seconds: dict[str, list[float]] = {str(few): [], str(many): []}
    peaks, left = [], []
    form = vectorized.prepare(read_attempts(asked.database()))
    for orders in (few, many, few):
        with TemporaryDirectory() as folder:
            path = fresh_copy(asked, folder)
            settings = Settings(orders=orders)
            (spent, rows), peak = apart(timed_main, path, settings, "2GB")
            seconds[str(orders)].append(spent)
            peaks.append(peak)
            left += [file.name for file in path.parent.iterdir() if file != path]
        totals = vectorized.replay(form, settings)
        check_rows("growth", rows, vectorized.tabulate(form, totals, settings).main)
    short = sum(seconds[str(few)]) / 2 / few
    (long,) = (spent / many for spent in seconds[str(many)])
    notes = {"left_beside_the_database": left, "peak_bytes": peaks}
    return [
        Line(
            "growth",
            f"seconds per order, {many:,} / {few} orders",
            [long / short],
            seconds=seconds,
            notes=notes,
        ),
        Line(
            "growth",
            f"GiB resident, {many:,} orders, --memory 2GB",
            [max(peaks) / GIB],
            unit=" GiB",
        ),
        Line("growth", "files left beside the database", [len(left)], notes=notes),
    ]


def budgets(asked: Asked) -> list[Line]:
    """Replay 1,000 budgets instead of 4, and have NumPy do the same."""
    attempts = read_attempts(asked.database())
    count = 100 if asked.quick else 1000
    few = Settings()
    many = few._replace(budgets=tuple(32_000 * n // count for n in range(1, count + 1)))
    seconds: dict[str, list[float]] = {}
    for _ in range(asked.rounds(3, quick=1)):
        for size, settings in (("few", few), ("many", many)):
            sides = {
                f"budget-audit, {size}": lambda s=settings: engine_side(asked, s),
                f"numpy, {size}": numpy_side(attempts, settings),
            }
            for name, spent in alternate(sides, 1, check_rows).items():
                seconds.setdefault(name, []).extend(spent)
    return [
        Line(
            "budgets",
            f"{count:,} / 4 budgets: {name}",
            ratios(seconds[f"{name}, many"], seconds[f"{name}, few"]),
            seconds=seconds,
        )
        for name in ("budget-audit", "numpy")
    ]


def tables(asked: Asked) -> list[Line]:
    """Every table that needs no tokens, beside the replay itself."""
    names = [name for name in engine.table_names() if name != "prefix_boxes"]
    seconds: dict[str, list[float]] = {"replay": [], "tables": []}
    each: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(asked.rounds()):
        with (
            TemporaryDirectory() as folder,
            database.opened(fresh_copy(asked, folder), write=True) as con,
        ):
            seconds["replay"].append(timed(engine.replay, con)[0])
            for name in names:
                each[name].append(timed(engine.table, con, name)[0])
        seconds["tables"].append(sum(spent[-1] for spent in each.values()))
    return [
        Line(
            "tables",
            f"{len(names)} tables with intervals / replay, 20 orders",
            ratios(seconds["tables"], seconds["replay"]),
            seconds=seconds,
            notes={"seconds_of_each": each},
        )
    ]
