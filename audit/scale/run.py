"""Run the remaining tasks of a run on an engine."""

from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Literal

import pyarrow as pa

from audit.errors import AuditError
from audit.options import TaskLimits, public
from audit.output.result import Result
from audit.progress import Progress
from audit.scale import engines
from audit.scale.folders import list_missing, remove_abandoned
from audit.scale.keys import make_keys
from audit.scale.plan import read_manifest
from audit.scale.tasks import Task


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
    # An engine starts when its block begins, so that only the one that is asked for does.
    opened: dict[str, AbstractContextManager[engines.Execute]] = {
        "local": nullcontext(partial(engines.run_local, workers=workers)),
        "spark": engines.open_spark(master, remote),
        "ray": engines.open_ray(address, workers * limits.threads),
    }
    if on not in opened:
        raise AuditError(f"--on {on}: must be local, spark or ray")
    if workers < 1:
        raise AuditError("--workers: a whole number from 1")
    path = Path(folder).resolve()
    manifest = read_manifest(path)
    missing = {kind: list_missing(path, manifest, kind) for kind in ("extract", "part")}
    if any(missing.values()):
        with opened[on] as execute:
            for kind, numbers in missing.items():
                tasks = [Task(kind, str(path), number, limits) for number in numbers]
                _run_tasks(execute, tasks, progress)
                make_keys(path, limits)
    remove_abandoned(path)
    done = {kind: len(numbers) for kind, numbers in missing.items()}
    caption = f"{done['extract']:,} extract(s) and {done['part']:,} part(s) made in {folder}"
    rows = {"task": list(done), "done": list(done.values())}
    return Result(pa.table(rows), caption=caption)


def _run_tasks(execute: engines.Execute, tasks: list[Task], progress: Progress | None) -> None:
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
