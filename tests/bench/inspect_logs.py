"""Seconds to read an Inspect log, beside Inspect's own `samples_df` where it is installed.

    python -m tests.bench inspect_logs [--samples 2000] [--rounds 3]

Ours is read and checked into Arrow columns, and once more loaded into a database, answers and all.
`samples_df` is asked for the same fields of each sample (ids, score, target, tokens, output), and
once more for its default columns, which are in the log's summaries: no sample is opened, and there
is neither an output nor a token count of a call. The best round counts.
"""

import argparse
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import duckdb

from audit.load.load import load
from audit.options import Reading
from audit.sources.canonical import read_columns
from audit.sources.files import find_files
from audit.sources.opening import open_source
from tests.support.logs import large_log


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
        print(f"read            {ours:8.3f} s")
        stored = best(asked.rounds, lambda: store(log))
        print(
            f"load            {stored:8.3f} s  {peak(log) / 1e6:6.1f} MB of Python objects at most"
        )
        try:
            from inspect_ai.analysis import samples_df
        except ImportError:
            print("inspect_ai is not installed: nothing to compare with")
            return
        columns = wanted_columns()
        for name, asks in (("same fields", {"columns": columns}), ("its defaults", {})):
            theirs = best(asked.rounds, lambda asks=asks: samples_df(str(log), **asks, quiet=True))
            print(
                f"samples_df      {theirs:8.3f} s  {theirs / ours:6.1f} times as long as read, "
                f"{theirs / stored:.1f} as load: {name}"
            )


def read(log: Path) -> None:
    """Read and check every column of a log."""
    (file,) = find_files([str(log)])
    source = open_source(file, Reading())
    for chunk in source.chunks:
        read_columns(source, chunk)


def store(log: Path) -> None:
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
    store(log)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return held
