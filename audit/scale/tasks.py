"""What an engine runs: one extract or one part, given by a path and a number, never by attempts."""

from pathlib import Path
from typing import NamedTuple

from audit.errors import AuditError, explained
from audit.options import TaskLimits

# A process that lives long keeps memory that it no longer needs: a part has one of its own.
TASKS_PER_PROCESS = {"extract": 50, "part": 1}
# How often tasks whose process was killed are tried again.
MOST_TRIES = 3


class Task(NamedTuple):
    """One extract or one part, and what it may use."""

    kind: str
    run: str
    number: int
    limits: TaskLimits


class Outcome(NamedTuple):
    """How a task ended: an error that every further try would repeat is returned, not raised."""

    kind: str
    number: int
    error: str | None = None


def perform(task: Task) -> Outcome:
    """Run one task where it is; whatever else goes wrong is for the engine to try again."""
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
