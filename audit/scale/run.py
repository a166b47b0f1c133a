"""Do what is missing of a run, on one of the engines, and nothing else."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from audit.errors import AuditError
from audit.options import TaskLimits
from audit.progress import Progress
from audit.scale.folders import is_done, remove_abandoned
from audit.scale.keys import missing_files, number_keys
from audit.scale.plan import Manifest, read_manifest, require_same_program
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


class Ran(NamedTuple):
    """How much was missing and has been done."""

    files: int
    parts: int


def run(
    folder: Path,
    on: str = "local",
    limits: TaskLimits | None = None,
    where: Where | None = None,
    progress: Progress | None = None,
) -> Ran:
    """Extract the files and make the parts that are not there yet."""
    folder = folder.resolve()
    limits, where = limits or TaskLimits(), where or Where()
    if on not in ENGINES:
        raise AuditError(f"--on {on}: must be {', '.join(ENGINES[:-1])} or {ENGINES[-1]}")
    if where.workers < 1:
        raise AuditError("--workers: a whole number from 1")
    manifest = read_manifest(folder)
    require_same_program(manifest)
    files = missing_files(folder, manifest)
    parts = missing_parts(folder, manifest)
    if files or parts:
        engine = import_module(f"audit.scale.{on}")
        with engine.started(where, limits) as execute:
            _do(execute, _tasks("extract", folder, files, limits), progress)
            number_keys(folder, limits)
            _do(execute, _tasks("part", folder, parts, limits), progress)
    remove_abandoned(folder)
    return Ran(len(files), len(parts))


def missing_parts(folder: Path, manifest: Manifest) -> list[int]:
    """The parts that are not there yet."""
    numbers = range(manifest.parts)
    return [number for number in numbers if not is_done(folder, "parts", number, manifest.id)]


def _tasks(kind: str, folder: Path, numbers: Sequence[int], limits: TaskLimits) -> list[Task]:
    return [Task(kind, str(folder), number, limits) for number in numbers]


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
