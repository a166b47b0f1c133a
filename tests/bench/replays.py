"""Replays, from a loaded database to `main` with its intervals, beside what a user would write."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from audit import database, engine
from tests.bench.apart import apart
from tests.bench.harness import Asked, Line, Row, alternate, check_rows, ratios, timed
from tests.bench.yardsticks import loop, vectorized
from tests.bench.yardsticks.protocol import ATTEMPTS, Settings

GIB = 2**30


def replay_20(asked: Asked) -> list[Line]:
    """20 orders beside the plain loop."""
    return replay_lines(asked, "replay_20", Settings(orders=20), {"loop": {"at_least": 2.5}})


def replay_200(asked: Asked) -> list[Line]:
    """200 orders beside the plain loop, NumPy and Polars."""
    targets = {"loop": {"at_least": 10}, "numpy": {"at_most": 2.5}, "polars": {"at_least": 1}}
    orders = 60 if asked.quick else 200
    return replay_lines(asked, "replay_200", Settings(orders=orders), targets)


def replay_1000(asked: Asked) -> list[Line]:
    """1,000 orders beside NumPy."""
    orders = 150 if asked.quick else 1000
    targets = {"numpy": {"at_most": 2.5}}
    return replay_lines(asked, "replay_1000", Settings(orders=orders), targets, rounds=3)


def replay_lines(
    asked: Asked,
    measure: str,
    settings: Settings,
    targets: dict[str, dict[str, float]],
    rounds: int = 5,
) -> list[Line]:
    """A replay beside some yardsticks: a line for each."""
    attempts = read_attempts(asked.database())
    parts: Row = {}
    sides: dict[str, Callable[[], tuple[float, Any]]] = {
        "budget-audit": lambda: engine_side(asked, settings)
    }
    for name in targets:
        module = yardstick(name)
        if module is None:
            print(f"{measure}: {name} is not installed: not compared")
            continue
        parts[name] = {"replay_seconds": [], "bootstrap_seconds": []}
        sides[name] = yardstick_side(module, attempts, settings, parts[name])
    seconds = alternate(sides, asked.rounds(rounds), check_rows)
    lines = []
    for name in list(sides)[1:]:
        target = targets[name]
        ours, theirs = seconds["budget-audit"], seconds[name]
        faster = "at_least" in target
        what = f"{name} / budget-audit" if faster else f"budget-audit / {name}"
        lines.append(
            Line(
                measure,
                f"{settings.orders} orders, seconds: {what}",
                ratios(theirs, ours) if faster else ratios(ours, theirs),
                **target,
                seconds={"budget-audit": ours, name: theirs},
                notes=parts[name],
            )
        )
    return lines


def read_attempts(path: Path) -> Any:
    """The attempts as an Arrow table, bank by bank in the order of their seeds."""
    with database.opened(path) as con:
        return con.sql(ATTEMPTS).to_arrow_table()


def yardstick(name: str) -> ModuleType | None:
    """A yardstick by its name, if what it needs is installed."""
    if name != "polars":
        return {"loop": loop, "numpy": vectorized}[name]
    try:
        from tests.bench.yardsticks import frames
    except ImportError:
        return None
    return frames


def yardstick_side(
    module: ModuleType, attempts: Any, settings: Settings, parts: dict[str, list[float]]
) -> Callable[[], tuple[float, list[Row]]]:
    """A yardstick from its own form of the attempts to `main`, its two parts noted apart."""
    form = module.prepare(attempts)

    def run() -> tuple[float, list[Row]]:
        replaying, totals = timed(module.replay, form, settings)
        resampling, tables = timed(module.tabulate, form, totals, settings)
        parts["replay_seconds"].append(replaying)
        parts["bootstrap_seconds"].append(resampling)
        return replaying + resampling, tables.main

    return run


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
            at_most=1.2,
            seconds=seconds,
            notes=notes,
        ),
        Line(
            "growth",
            f"GiB resident, {many:,} orders, --memory 2GB",
            [max(peaks) / GIB],
            at_most=2.5,
            unit=" GiB",
        ),
        Line("growth", "files left beside the database", [len(left)], at_most=0, notes=notes),
    ]


def again(asked: Asked) -> list[Line]:
    """A second replay with one budget more beside the first: the walks are there."""
    seconds: dict[str, list[float]] = {"first": [], "second": []}
    settings = Settings(orders=60 if asked.quick else 200)
    for _ in range(asked.rounds(3)):
        with (
            TemporaryDirectory() as folder,
            database.opened(
                fresh_copy(asked, folder), write=True, row_group=database.REPLAYED_ROW_GROUP
            ) as con,
        ):
            seconds["first"].append(timed(engine.replay, con, **settings._asdict())[0])
            added = (3 * max(settings.budgets) // 4,)
            seconds["second"].append(timed(engine.replay, con, add_budgets=added)[0])
    return [
        Line(
            "again",
            f"{settings.orders} orders, seconds: a second replay with one budget more / the first",
            ratios(seconds["second"], seconds["first"]),
            at_most=0.6,
            seconds=seconds,
        )
    ]


def budgets(asked: Asked) -> list[Line]:
    """1,000 budgets instead of 4, with and without intervals, and NumPy doing the same."""
    attempts = read_attempts(asked.database())
    count = 100 if asked.quick else 1000
    lines = []
    for replicates, at_most in ((5000, 10), (0, None)):
        few = Settings(replicates=replicates)
        many = few._replace(budgets=tuple(32_000 * n // count for n in range(1, count + 1)))
        parts: dict[str, list[float]] = {"replay_seconds": [], "bootstrap_seconds": []}
        seconds: dict[str, list[float]] = {}
        pairs = {
            size: {
                f"budget-audit, {size}": lambda s=settings: engine_side(asked, s),
                f"numpy, {size}": yardstick_side(vectorized, attempts, settings, parts),
            }
            for size, settings in (("few", few), ("many", many))
        }
        for _ in range(asked.rounds(3, quick=1)):
            for sides in pairs.values():
                for name, spent in alternate(sides, 1, check_rows).items():
                    seconds.setdefault(name, []).extend(spent)
        for name in ("budget-audit", "numpy"):
            lines.append(
                Line(
                    "budgets",
                    f"{count:,} / 4 budgets, {replicates:,} replicates: {name}",
                    ratios(seconds[f"{name}, many"], seconds[f"{name}, few"]),
                    at_most=at_most if name == "budget-audit" else None,
                    seconds=seconds,
                )
            )
    return lines


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
            at_most=4,
            seconds=seconds,
            notes={"seconds_of_each": each},
        )
    ]


def beyond(asked: Asked) -> list[Line]:
    """Compare the tables beyond the study with those of the study."""
    study = ("main", "curves", "cost_comparisons")
    more = ("budget_curve", "matched_cost", "policies")
    seconds: dict[str, list[float]] = {name: [] for name in (*study, *more)}
    for _ in range(asked.rounds()):
        with (
            TemporaryDirectory() as folder,
            database.opened(fresh_copy(asked, folder), write=True) as con,
        ):
            engine.replay(con, policies="all")
            for name in (*study, *more):
                seconds[name].append(timed(engine.table, con, name)[0])
    sums = [
        [sum(spent) for spent in zip(*(seconds[name] for name in names), strict=True)]
        for names in (more, study)
    ]
    return [
        Line(
            "beyond",
            f"{' + '.join(more)} / {' + '.join(study)}",
            ratios(*sums),
            at_most=3,
            seconds=seconds,
        ),
    ]
