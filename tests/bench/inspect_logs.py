"""Seconds to read an Inspect log, beside Inspect's own `samples_df` where it is installed.

    python -m tests.bench inspect_logs [--samples 2000] [--rounds 3]

`load` reads, checks and stores everything that an audit needs. `samples_df` is asked for the same
fields of each sample (ids, score, target, tokens, output), and once more for its default columns,
which it takes from the log's summaries without opening a sample. The best round counts.
"""

import argparse
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import duckdb

from audit.load import load
from tests.logs import large_log


def main(arguments: list[str]) -> None:
    """Print one line per way of reading, and the ratios."""
    parser = argparse.ArgumentParser("python -m tests.bench inspect_logs")
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        log = large_log(Path(folder) / "large.eval", asked.samples)
        print(f"{asked.samples:,} samples, {log.stat().st_size / 1e6:.1f} MB")
        ours = best(asked.rounds, lambda: read(log))
        print(f"load            {ours:8.3f} s  {peak(log) / 1e6:6.1f} MB of Python objects at most")
        try:
            from inspect_ai.analysis import samples_df
        except ImportError:
            print("inspect_ai is not installed: nothing to compare with")
            return
        columns = wanted_columns()
        for name, asks in (("same fields", {"columns": columns}), ("its defaults", {})):
            theirs = best(asked.rounds, lambda asks=asks: samples_df(str(log), **asks, quiet=True))
            print(f"samples_df      {theirs:8.3f} s  {theirs / ours:6.1f} times as long: {name}")


def read(log: Path) -> None:
    """Load a log into a database in memory."""
    with duckdb.connect() as con:
        load(con, [str(log)])


def wanted_columns() -> list:
    """The columns of samples_df that hold what a load reads."""
    from inspect_ai.analysis import SampleColumn

    paths = {
        "id": "id",
        "epoch": "epoch",
        "target": "target",
        "scores": "scores",
        "usage": "model_usage",
        "stop_reason": "output.choices[0].stop_reason",
        "completion": "output.completion",
    }
    return [SampleColumn(name, path=path, full=True) for name, path in paths.items()]


def best(rounds: int, run: Callable[[], object]) -> float:
    """The shortest time of several rounds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def peak(log: Path) -> int:
    """The most memory that Python holds while a log is loaded."""
    tracemalloc.start()
    read(log)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return held
