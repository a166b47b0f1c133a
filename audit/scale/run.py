"""The remaining tasks of a run, each of them the same function on every engine."""

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Literal

import pyarrow as pa

from audit.errors import AuditError
from audit.options import TaskLimits, public
from audit.output.result import Result
from audit.progress import Progress
from audit.scale.folders import missing, remove_abandoned
from audit.scale.keys import number_keys
from audit.scale.plan import read_manifest
from audit.scale.tasks import Outcome, Task

ENGINES = ("local", "spark", "ray")
# A process that lives long keeps memory that it no longer needs: a part has one of its own.
TASKS_PER_PROCESS = {"extract": 50, "part": 1}
# How often tasks whose process was killed are tried again.
MOST_TRIES = 3

Execute = Callable[[list[Task]], Iterable[Outcome]]


@public
def run(
    folder: str | Path,
    *,
    on: Literal["local", "spark", "ray"] = "local",
    workers: int = 2,
    master: str | None = None,
    remote: str | None = None,
    address: str | None = None,
    progress: Progress | None = None,
    limits: TaskLimits,
) -> Result:
    """Run the remaining tasks of a run: a row for extracts and one for parts.

    Local processes import the script that started them: call it below `if __name__ ==
    "__main__"`.

    on: the engine: local processes, spark or ray
    workers: processes of this machine (local, and ray without an address)
    master: Spark's master, such as 'spark://host:7077'
    remote: a Spark Connect server, such as 'sc://host:15002'
    address: a Ray cluster, such as 'auto'
    """
    if on not in ENGINES:
        raise AuditError(f"--on {on}: must be {', '.join(ENGINES[:-1])} or {ENGINES[-1]}")
    if workers < 1:
        raise AuditError("--workers: a whole number from 1")
    path = Path(folder).resolve()
    manifest = read_manifest(path)
    waiting = {kind: missing(path, manifest, kind) for kind in ("extract", "part")}
    if any(waiting.values()):
        started = import_module(f"audit.scale.{on}").started
        place = {"local": (workers,), "spark": (master, remote), "ray": (workers, address)}[on]
        with started(limits, *place) as execute:
            for kind, numbers in waiting.items():
                tasks = [Task(kind, str(path), number, limits) for number in numbers]
                _do(execute, tasks, progress)
                number_keys(path, limits)
    remove_abandoned(path)
    done = {kind: len(numbers) for kind, numbers in waiting.items()}
    caption = f"{done['extract']:,} extract(s) and {done['part']:,} part(s) made in {folder}"
    rows = {"task": list(done), "done": list(done.values())}
    return Result(pa.table(rows), caption=caption)


def _do(execute: Execute, tasks: list[Task], progress: Progress | None) -> None:
    """Run tasks on an engine, and raise the error of the first task that reports one."""
    failures = []
    for done, outcome in enumerate(execute(tasks) if tasks else (), 1):
        if outcome.error:
            failures.append(outcome)
        if progress:
            progress(f"{outcome.kind} {outcome.number}", done, len(tasks))
    if failures:
        first = min(failures, key=lambda outcome: outcome.number)
        more = f" (and {len(failures) - 1:,} more)" if len(failures) > 1 else ""
        raise AuditError(f"{first.kind} {first.number}{more}: {first.error}")
