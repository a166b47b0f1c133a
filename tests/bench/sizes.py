"""Seconds and memory of each command on many problems, or many archives.

    python -m tests.bench sizes [--archives 1] [--problems 100000] [--attempts 1] [--memory 2GB]

The archives are simulated and drawn from a seed. Every command runs in a process of its own, whose
memory is beside what it was allowed.
"""

import argparse
import contextlib
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from audit import api
from tests.bench.apart import apart


def main(arguments: list[str]) -> None:
    """Print a line for each command."""
    parser = argparse.ArgumentParser("python -m tests.bench sizes")
    parser.add_argument("--archives", type=int, default=1)
    parser.add_argument("--problems", type=int, default=100_000)
    parser.add_argument("--attempts", type=int, default=1)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--report", action="store_true", help="build the page too")
    parser.add_argument("--load-only", action="store_true", help="nothing after the load")
    asked = parser.parse_args(arguments)
    print(
        f"{asked.archives:,} archives x {asked.problems:,} problems x {asked.attempts} attempts, "
        f"--memory {asked.memory}; load average {os.getloadavg()[0]:.1f}"
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_archives(folder / "attempts.parquet", asked.archives, asked.problems, asked.attempts)
        steps = ["load", "replay", "table", "export", *(["report"] if asked.report else [])]
        for name in steps[:1] if asked.load_only else steps:
            (wall, processors), memory = apart(step, folder, name, asked.memory)
            print(
                f"{name:8} {wall:7.1f} s  {processors:7.1f} s of processors  "
                f"{memory / 2**20:6.0f} MiB",
                flush=True,
            )


def step(folder: Path, name: str, memory: str) -> tuple[float, float]:
    """Run one command, and say how long it took."""
    db, started, worked = folder / "audit.duckdb", time.perf_counter(), time.process_time()
    with contextlib.redirect_stdout(None):
        if name == "load":
            api.load(db, folder / "attempts.parquet", memory=memory)
        elif name == "replay":
            api.replay(db, memory=memory)
        elif name == "table":
            api.table(db, "main", memory=memory)
        elif name == "export":
            api.export(db, folder / "tables", memory=memory)
        else:
            api.report(db, folder / "page", memory=memory)
    return time.perf_counter() - started, time.process_time() - worked


def write_archives(path: Path, archives: int, problems: int, attempts: int) -> None:
    """Simulated attempts: four answers, one of them correct, costs of 50 to 9,000 tokens."""
    rng = np.random.default_rng(1)
    rows = archives * problems * attempts
    archive = np.repeat(np.arange(archives), problems * attempts)
    problem = np.tile(np.repeat(np.arange(problems), attempts), archives)
    answer = rng.integers(0, 4, rows)
    names = pa.array([f"simulated_{n:04}" for n in range(archives)])
    table = pa.table(
        {
            "archive": names.take(pa.array(archive)),
            "competition": pa.array([f"c{n}" for n in range(3)]).take(pa.array(problem % 3)),
            "question_id": problem // 3,
            "seed": np.tile(np.arange(attempts), archives * problems),
            "text": pa.array([f"so \\boxed{{{n}}}" for n in range(4)]).take(pa.array(answer)),
            "completion_tokens": rng.integers(50, 9000, rows),
            "prompt_tokens": np.full(rows, 100),
            "finish_reason": np.where(rng.random(rows) < 0.9, "stop", "length"),
            "correct": answer == problem % 4,
        }
    )
    pq.write_table(table, path, row_group_size=100_000)
