"""The remaining tasks of a run, each of them the same function on every engine."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from audit.errors import AuditError, explained
from audit.options import TaskLimits
from audit.progress import Progress
from audit.scale.folders import missing, remove_abandoned
from audit.scale.plan import same_plan

ENGINES = ("local", "spark", "ray")
# A process that lives long keeps memory that it no longer needs: a part has one of its own.
TASKS_PER_PROCESS = {"extract": 50, "part": 1}
# How often tasks whose process was killed are tried again.
MOST_TRIES = 3


class Task(NamedTuple):
    """One extract or one part, given by a path and a number, and what it may use."""

    kind: str
    run: str
    number: int
    limits: TaskLimits


class Outcome(NamedTuple):
    """How a task ended: an error that every further try would repeat is returned, not raised."""

    kind: str
    number: int
    error: str | None = None


Execute = Callable[[list[Task]], Iterable[Outcome]]


@dataclass(frozen=True)
class Where:
    """Where tasks run: local processes, a Spark master or remote, a Ray address."""

    workers: int = 1
    master: str | None = None
    remote: str | None = None
    address: str | None = None


def perform(task: Task) -> Outcome:
    """Run one task in this process; the engine tries again after any other failure."""
    import duckdb

    from audit.scale.extract import extract
    from audit.scale.part import part

    work = {"extract": extract, "part": part}[task.kind]
    try:
        work(Path(task.run), task.number, task.limits)
    except AuditError as error:
        return Outcome(task.kind, task.number, str(error))
    except duckdb.Error as error:
        return Outcome(task.kind, task.number, explained(error))
    return Outcome(task.kind, task.number)


def run(
    folder: Path,
    on: str = "local",
    limits: TaskLimits | None = None,
    where: Where | None = None,
    progress: Progress | None = None,
) -> tuple[int, int]:
    """Do the extracts and the parts that are not there yet; return how many they were."""
    from audit.scale.keys import number_keys

    folder = folder.resolve()
    limits, where = limits or TaskLimits(), where or Where()
    if on not in ENGINES:
        raise AuditError(f"--on {on}: must be {', '.join(ENGINES[:-1])} or {ENGINES[-1]}")
    if where.workers < 1:
        raise AuditError("--workers: a whole number from 1")
    manifest = same_plan(folder)
    extracts = missing(folder, "attempts", len(manifest.extracts), manifest.id)
    parts = missing(folder, "parts", manifest.parts, manifest.id)
    if extracts or parts:
        with import_module(f"audit.scale.{on}").started(where, limits) as execute:
            _do(execute, [Task("extract", str(folder), n, limits) for n in extracts], progress)
            number_keys(folder, limits)
            _do(execute, [Task("part", str(folder), n, limits) for n in parts], progress)
    remove_abandoned(folder)
    return len(extracts), len(parts)


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
