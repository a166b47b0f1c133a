"""Do what is missing of a run, on one of the engines, and nothing else."""

import contextlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from audit.errors import AuditError
from audit.scale.folders import Limits, is_done
from audit.scale.keys import missing_files, number_keys
from audit.scale.plan import Manifest, read_manifest, require_same_program
from audit.scale.tasks import Outcome, Task

ENGINES = ("local", "spark", "ray")
Progress = Callable[[str, int, int], None]


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
    limits: Limits | None = None,
    where: Where | None = None,
    progress: Progress | None = None,
) -> Ran:
    """Extract the files and make the parts that are not there yet."""
    folder = folder.resolve()
    limits, where = limits or Limits(), where or Where()
    manifest = read_manifest(folder)
    require_same_program(manifest)
    files = missing_files(folder, manifest)
    _execute(on, _tasks("extract", folder, files, limits), where, progress)
    number_keys(folder, limits)
    parts = missing_parts(folder, manifest)
    _execute(on, _tasks("part", folder, parts, limits), where, progress)
    _remove_partial(folder)
    return Ran(len(files), len(parts))


def missing_parts(folder: Path, manifest: Manifest) -> list[int]:
    """The parts that are not there yet."""
    numbers = range(manifest.parts)
    return [number for number in numbers if not is_done(folder, "parts", number, manifest.id)]


def _tasks(kind: str, folder: Path, numbers: Sequence[int], limits: Limits) -> list[Task]:
    return [Task(kind, str(folder), number, limits) for number in numbers]


def _execute(on: str, tasks: list[Task], where: Where, progress: Progress | None) -> None:
    """Run tasks on an engine; the first mistake that one of them tells is the run's."""
    if not tasks:
        return
    execute: Callable[[list[Task], Where], Iterator[Outcome]]
    execute = import_module(f"audit.scale.{on}").execute
    told = []
    with contextlib.closing(execute(tasks, where)) as outcomes:  # type: ignore[type-var]
        for done, outcome in enumerate(outcomes, 1):
            if outcome.error:
                told.append(outcome)
            if progress:
                progress(f"{outcome.kind} {outcome.number}", done, len(tasks))
    if told:
        first = min(told, key=lambda outcome: outcome.number)
        more = f" (so do {len(told) - 1:,} more)" if len(told) > 1 else ""
        raise AuditError(f"{first.kind} {first.number} fails{more}: {first.error}")


def _remove_partial(folder: Path) -> None:
    """Remove what killed attempts have left; every task is done, so nobody writes there."""
    for kind in ("attempts", "parts"):
        for partial in (folder / kind).glob(".[0-9]*.*"):
            shutil.rmtree(partial, ignore_errors=True)
