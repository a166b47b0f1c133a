"""Do what is missing of a run, on one of the engines, and nothing else."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from audit.errors import AuditError
from audit.options import TaskLimits
from audit.progress import Progress
from audit.scale.folders import missing, remove_abandoned
from audit.scale.keys import number_keys
from audit.scale.plan import same_plan
from audit.scale.tasks import Outcome, Task

ENGINES = ("local", "spark", "ray")
Execute = Callable[[list[Task]], Iterable[Outcome]]


@dataclass(frozen=True)
class Where:
    """Where tasks run: local processes, a Spark master or remote, a Ray address."""

    workers: int = 1
    master: str | None = None
    remote: str | None = None
    address: str | None = None


def run(
    folder: Path,
    on: str = "local",
    limits: TaskLimits | None = None,
    where: Where | None = None,
    progress: Progress | None = None,
) -> tuple[int, int]:
    """Extract the files and make the parts that are not there yet; say how many they were."""
    folder = folder.resolve()
    limits, where = limits or TaskLimits(), where or Where()
    if on not in ENGINES:
        raise AuditError(f"--on {on}: must be {', '.join(ENGINES[:-1])} or {ENGINES[-1]}")
    if where.workers < 1:
        raise AuditError("--workers: a whole number from 1")
    manifest = same_plan(folder)
    files = missing(folder, "attempts", len(manifest.files), manifest.id)
    parts = missing(folder, "parts", manifest.parts, manifest.id)
    if files or parts:
        engine = import_module(f"audit.scale.{on}")
        with engine.started(where, limits) as execute:
            _do(execute, [Task("extract", str(folder), n, limits) for n in files], progress)
            number_keys(folder, limits)
            _do(execute, [Task("part", str(folder), n, limits) for n in parts], progress)
    remove_abandoned(folder)
    return len(files), len(parts)


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
