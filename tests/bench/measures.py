"""What commands cost in processor time: user and system seconds of whole processes."""

import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from audit import database, engine
from audit.live import Controller
from tests.bench.yardsticks import loop
from tests.bench.yardsticks.protocol import ATTEMPTS, Settings

PROGRAM = (sys.executable, "-c", "from audit.cli import main; main()")
MB = 10**6


class Line(NamedTuple):
    """A line of the table: what was measured, a value per round, its unit and its bar."""

    what: str
    values: list[float]
    unit: str
    bar: str


class Used(NamedTuple):
    """What a process has used: processor seconds, most bytes in memory, and what it printed."""

    seconds: float
    memory: int
    printed: bytes


def process(*command: str) -> Used:
    """Run a command and return what it used."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout and running.stderr
        printed = running.stdout.read()
        told = running.stderr.read()
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    assert running.returncode == 0, told.decode()
    return Used(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, printed)


def tool(*arguments: object) -> Used:
    """Run the tool with these arguments."""
    return process(*PROGRAM, *map(str, arguments))


class Bench:
    """The study's shape in a folder: two simulated archives, loaded once and copied."""

    def __init__(self, folder: Path, rounds: int, problems: int = 30) -> None:
        self.folder, self.rounds = folder, rounds
        self.loaded = folder / f"loaded-{problems}.duckdb"
        if not self.loaded.exists():
            sources = folder / f"archives-{problems}"
            tool("simulate", "--out", sources, "--problems", problems)
            tool("load", sources, "--db", self.loaded)

    def copies(self) -> Iterator[Path]:
        """Yield a fresh copy of the loaded database for every round."""
        for number in range(self.rounds):
            path = self.folder / f"round-{number}.duckdb"
            yield Path(shutil.copy(self.loaded, path))
            path.unlink()

    def replayed(self, *options: object) -> Path:
        """Return a database that was replayed once."""
        path = self.folder / f"replayed-{'-'.join(map(str, options))[:80]}.duckdb"
        if not path.exists():
            shutil.copy(self.loaded, path)
            tool("replay", "--db", path, *options)
        return path


def replay(bench: Bench, orders: int, bar: str) -> list[Line]:
    """Replay and print `main` beside NumPy by hand, as whole processes."""
    ratios, ours, sizes, memory = [], [], [], []
    for path in bench.copies():
        replayed = tool("replay", "--db", path, "--orders", orders)
        main = tool("table", "main", "--db", path, "--format", "json")
        by_hand = process(
            sys.executable, "-m", "tests.bench.yardsticks.whole", str(path), str(orders)
        )
        check_rows(json.loads(main.printed), json.loads(by_hand.printed))
        ours.append(replayed.seconds + main.seconds)
        ratios.append(ours[-1] / by_hand.seconds)
        sizes.append(path.stat().st_size / MB)
        memory.append(replayed.memory / MB)
    return [
        Line(f"{orders} orders: replay and table main / NumPy by hand", ratios, "x", bar),
        Line(f"{orders} orders: replay and table main", ours, "s", ""),
        Line(f"{orders} orders: database", sizes, "MB", "25" if orders == 200 else ""),
        Line(f"{orders} orders: memory of the replay", memory, "MB", ""),
    ]


def replay_200(bench: Bench) -> list[Line]:
    """Measure 200 orders."""
    return replay(bench, 200, "1.7")


def replay_1000(bench: Bench) -> list[Line]:
    """Measure 1,000 orders."""
    return replay(bench, 1000, "1.3")


def replay_20(bench: Bench) -> list[Line]:
    """Measure 20 orders within a process, beside a plain loop."""
    settings, ratios = Settings(orders=20), []
    with database.open_database(bench.loaded) as con:
        attempts = con.sql(ATTEMPTS).to_arrow_table()
    for path in bench.copies():
        row_group = database.REPLAYED_ROW_GROUP
        with database.open_database(path, write=True, row_group=row_group) as con:
            ours, main = processor(lambda con=con: replayed_main(con, settings))
        theirs, accuracies = processor(lambda: loop.replay(attempts, settings))
        for row in main:
            strict, advisory, *_ = accuracies[row["archive"], row["budget"]]
            assert math.isclose(row["strict_accuracy"], strict, abs_tol=1e-9)
            assert math.isclose(row["advisory_accuracy"], advisory, abs_tol=1e-9)
        ratios.append(theirs / ours)
    return [Line("20 orders in process: a plain loop / replay and main", ratios, "x", ">= 2.5")]


def replayed_main(con: Any, settings: Settings) -> list[dict[str, Any]]:
    """Replay, and return the rows of `main`."""
    engine.replay(con, **settings._asdict())
    return engine.compute_table(con, "main").to_pylist()


def processor(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of a call, and its result."""
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found


def add_budgets(bench: Bench) -> list[Line]:
    """Measure another budget beside the first replay, at 200 orders."""
    ratios = []
    for path in bench.copies():
        first = tool("replay", "--db", path, "--orders", 200)
        ratios.append(tool("replay", "--db", path, "--add-budgets", "6k").seconds / first.seconds)
    return [Line("--add-budgets 6k / the first replay, 200 orders", ratios, "x", "0.6")]


def budget_curve(bench: Bench) -> list[Line]:
    """Measure the curve of 200 budgets, at 200 orders."""
    seconds, memory = [], []
    for path in bench.copies():
        shutil.copy(bench.replayed("--orders", 200), path)
        used = tool("table", "budget_curve", "--db", path)
        seconds.append(used.seconds)
        memory.append(used.memory / MB)
    return [
        Line("table budget_curve, 200 orders", seconds, "s", "2.5"),
        Line("table budget_curve, memory", memory, "MB", "300"),
    ]


def commands(bench: Bench) -> list[Line]:
    """Measure commands that look at little."""
    db, rounds = bench.replayed(), range(bench.rounds)
    asked = {
        "--help": (["--help"], ""),
        'query "select 1"': (["query", "select 1", "--db", db], "0.35"),
        "table main": (["table", "main", "--db", db], "0.55"),
    }
    return [
        Line(name, [tool(*arguments).seconds for _ in rounds], "s", bar)
        for name, (arguments, bar) in asked.items()
    ]


def budgets(bench: Bench) -> list[Line]:
    """Measure 1,000 budgets, at 20 orders."""
    many = ",".join(str(32 * number) for number in range(1, 1001))
    seconds = [tool("replay", "--db", db, "--budgets", many).seconds for db in bench.copies()]
    return [Line("1,000 budgets, 20 orders", seconds, "s", "8")]


def agents(bench: Bench) -> list[Line]:
    """Measure the replay and the report of the agents' demonstration."""
    folder = bench.folder / "agents"
    if not folder.exists():
        tool("demo", "--agents", "--out", folder)
    (db,) = folder.glob("*.duckdb")
    page = bench.folder / "page.html"
    seconds = [
        tool("replay", "--db", db).seconds + tool("report", "--db", db, "--out", page).seconds
        for _ in range(bench.rounds)
    ]
    return [Line("the agents' demonstration: replay and report", seconds, "s", "5")]


def frontier(bench: Bench) -> list[Line]:
    """Measure a frontier of 1,350 points: nine archives, 75 budgets, two rules."""
    folder = bench.folder / "demo"
    if not folder.exists():
        tool("demo", "--out", folder)
    (db,) = folder.glob("*.duckdb")
    many = ",".join(str(400 * number) for number in range(1, 76))
    seconds = []
    for _ in range(bench.rounds):
        tool("replay", "--db", db, "--budgets", many, "--rules", "strict", "--policies", "none")
        used = tool("table", "frontier", "--db", db, "--format", "json")
        points = len(json.loads(used.printed))
        seconds.append(used.seconds)
    return [Line(f"table frontier of {points:,} points", seconds, "s", "4")]


def texts(bench: Bench) -> list[Line]:
    """Measure the first replay after loading 300 MB of texts, which are not to be written again."""
    sources, loaded = bench.folder / "texts", bench.folder / "texts.duckdb"
    if not loaded.exists():
        tool("simulate", "--out", sources, "--problems", 8, "--texts", "full")
        tool("load", sources, "--db", loaded)
    path = bench.folder / "texts-round.duckdb"
    seconds, grown = [], []
    for _ in range(bench.rounds):
        shutil.copy(loaded, path)
        seconds.append(tool("replay", "--db", path).seconds)
        grown.append((path.stat().st_size - loaded.stat().st_size) / MB)
    with database.open_database(loaded) as con:
        ((size,),) = con.execute("select sum(length(text)) from texts").fetchall()
    return [
        Line(f"first replay of {size / MB:,.0f} MB of texts", seconds, "s", ""),
        Line("by how much that database grows", grown, "MB", ""),
    ]


def live(bench: Bench) -> list[Line]:
    """Measure a controller of settings that no other one has, and each of its attempts."""
    Controller(1000, cap=12)
    new, attempts = [], []
    for cap in range(13, 13 + 3 * bench.rounds):
        policy = ("lead_of_three", "adaptive_consistency", "decided")[cap % 3]
        seconds, controller = processor(lambda c=cap, p=policy: Controller(10**6, cap=c, policy=p))
        new.append(seconds)
        seconds, _ = processor(lambda controller=controller: launch(controller))
        attempts.append(1000 * seconds / controller.launched)
    return [
        Line("a live controller of new settings", new, "s", "0.3"),
        Line("its attempts, and whether another begins", attempts, "ms", "10"),
    ]


def launch(controller: Controller) -> None:
    """Record attempts until the policy stops; their answers differ at first."""
    while controller.launched < 12 and controller.may_launch():
        controller.record(7, str(min(controller.launched, 4)))


def check_rows(found: Iterable[dict[str, Any]], expected: Iterable[dict[str, Any]]) -> None:
    """Stop where two tables differ by more than rounding: then no time means anything."""
    for ours, theirs in zip(found, expected, strict=True):
        for column, value in theirs.items():
            other = ours[column]
            is_same = value == other or math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-9)
            assert is_same, f"{column} is {other}, not {value}, in {theirs}"


MEASURES = (
    *(replay_20, replay_200, replay_1000, add_budgets, budget_curve, commands, budgets),
    *(agents, frontier, texts, live),
)
