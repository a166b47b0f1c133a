"""A run in parts on this machine beside one process that loads and replays the same archives.

    python -m tests.bench scale [--archives 1000] [--workers 2] [--memory 2GB] [--one] [--data DIR]

The archives are drawn, answers without texts: 120 problems x 80 attempts each. Seconds are those
of the wall, and beside them those that the processors have worked; the memory is the most that any
process of a step has held resident. `--one` adds one process with as many threads and as much
memory as the workers have together.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from audit import database, engine
from audit.load.load import load
from audit.scale import engines, gather, plan, run
from audit.scale.tasks import Outcome, Task, perform
from tests.bench.apart import apart, peak_memory

SETTINGS: dict[str, Any] = {"orders": 20, "replicates": 1000}
# Every total of every problem, on which the tables rest.
COMPARED = ("attempts", "labels", "problem_costs", "problem_scores")


def main(arguments: list[str]) -> None:
    """Print what a run takes, step by step."""
    parser = argparse.ArgumentParser("python -m tests.bench scale")
    for name, default in (("archives", 1000), ("problems", 120), ("attempts", 80), ("parts", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--one", action="store_true", help="one process beside it")
    parser.add_argument("--data", type=Path, metavar="DIR", help="where the files go and stay")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        measure(asked, asked.data or Path(scratch))


def measure(asked: argparse.Namespace, folder: Path) -> None:
    """One run, and one process where that is wanted."""
    shape = (asked.archives, asked.problems, asked.attempts)
    sources = folder / f"archives-{'-'.join(map(str, shape))}"
    with told("draw archives"):
        draw_archives(sources, *shape)
    size = sum(path.stat().st_size for path in sources.iterdir())
    attempts = asked.archives * asked.problems * asked.attempts
    print(f"{attempts:,} attempts in {asked.archives:,} files of {size / 1e6:,.0f} MB")
    out = folder / f"run-{asked.archives}"
    with told("plan"):
        plan.plan([str(sources)], out, asked.parts or 8, **SETTINGS)
    engines.perform = partial(measured, str(folder / "memory"))  # type: ignore[assignment]
    (folder / "memory").mkdir(exist_ok=True)
    with told(f"run with {asked.workers} workers of {asked.memory}"):
        run.run(out, workers=asked.workers, memory=asked.memory)
    for kind in ("extract", "part"):
        found = [json.loads(path.read_text()) for path in (folder / "memory").glob(f"{kind}-*")]
        peak = max(one[0] for one in found)
        seconds, cpu = (sum(one[at] for one in found) for at in (1, 2))
        print(
            f"  {kind}: peak {peak / 2**20:,.0f} MiB, "
            f"{seconds:,.0f} s and {cpu:,.0f} CPU s in all processes"
        )
    print(f"  the run's folder: {size_of(out) / 1e6:,.0f} MB")
    db = folder / f"gathered-{asked.archives}.duckdb"
    with told("gather"):
        cpu, peak = apart(gathered, out, db)
    size = db.stat().st_size
    print(f"  peak {peak / 2**20:,.0f} MiB, {cpu:,.0f} CPU s, {size / 1e6:,.0f} MB")
    if asked.one:
        with told(f"one process with {asked.workers} threads"):
            memory = f"{asked.workers * float(asked.memory.removesuffix('GB'))}GB"
            (cpu, size), peak = apart(alone, sources, folder, asked.workers, memory)
        print(f"  peak {peak / 2**20:,.0f} MiB, {cpu:,.0f} CPU s, {size / 1e6:,.0f} MB")
        print(f"same totals: {totals(folder / 'one.duckdb') == totals(db)}")


@contextmanager
def told(what: str) -> Iterator[None]:
    """Print how long something took."""
    begun = time.perf_counter()
    yield
    print(f"{what}: {time.perf_counter() - begun:,.1f} s", flush=True)


def draw_archives(folder: Path, archives: int, problems: int, attempts: int) -> None:
    """Archives of one model each, a file each: costs, answers and labels, no texts."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = problems * attempts
    fixed = {
        "competition": pa.array(np.repeat([f"C{at // 30}" for at in range(problems)], attempts)),
        "question_id": pa.array(np.repeat(np.arange(problems) % 30, attempts)),
        "seed": pa.array(np.tile(np.arange(attempts), problems)),
        "prompt_tokens": pa.array(np.full(rows, 200)),
    }
    for number in range(archives):
        path = folder / f"simulated-{number:05d}.parquet"
        if path.exists():
            continue
        rng = np.random.default_rng([7, number])
        answers = rng.integers(0, 5, rows) * (rng.random(rows) > 0.4)
        columns = {
            "archive": pa.array([path.stem] * rows),
            **fixed,
            "completion_tokens": pa.array(rng.lognormal(8, 0.8, rows).astype(np.int64) + 1),
            "finish_reason": pa.array(np.where(rng.random(rows) < 0.9, "stop", "length")),
            "boxed_answer": pa.array(answers.astype(str)),
            "correct": pa.array(answers == 0),
        }
        pyarrow.parquet.write_table(pa.table(columns), path)


def measured(folder: str, task: Task) -> Outcome:
    """Perform a task, and keep what its process has held, how long it took and worked."""
    begun, worked = time.perf_counter(), time.process_time()
    outcome = perform(task)
    found = (peak_memory(), time.perf_counter() - begun, time.process_time() - worked)
    Path(folder, f"{task.kind}-{task.number}").write_text(json.dumps(found))
    return outcome


def gathered(out: Path, db: Path) -> float:
    """Gather in a process of its own; say how long it worked."""
    db.unlink(missing_ok=True)
    gather.gather(out, db, memory="4GB")
    return time.process_time()


def alone(sources: Path, folder: Path, threads: int, memory: str) -> tuple[float, int]:
    """Load and replay in one process; say how long it worked, and the size of the database."""
    db = folder / "one.duckdb"
    db.unlink(missing_ok=True)
    limits = {"write": True, "threads": threads, "memory": memory}
    with database.open_database(db, **limits, row_group=database.LOADED_ROW_GROUP) as con:
        load(con, [str(sources)], texts=False)
    with database.open_database(db, **limits, row_group=database.REPLAYED_ROW_GROUP) as con:
        engine.replay(con, **SETTINGS)
    return time.process_time(), db.stat().st_size


def totals(db: Path) -> dict[str, tuple[int, int]]:
    """How many rows relations have, and a hash of all of them in whatever order."""
    select = "select count(*), bit_xor(hash(row_of)) from {} as row_of"
    with database.open_database(db, memory="4GB") as con:
        return {name: con.execute(select.format(name)).fetchall()[0] for name in COMPARED}


def size_of(folder: Path) -> int:
    """The bytes of all files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
