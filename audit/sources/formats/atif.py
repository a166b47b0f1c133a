"""ATIF, the agent trajectory interchange format: a run per file, a step per model call."""

import json
from typing import Any

from audit.sources.files import SourceFile
from audit.sources.formats import Context, Format, Record, column
from audit.sources.formats.trajectories import (
    NO_LABELS,
    ONE_RUN,
    of_steps,
    spoken,
    step,
    whole_records,
)
from audit.sources.paths import items, walk

RESULT = "result.json"


def header(file: SourceFile) -> Record:
    """The task and the reward, where the runner has written a result in a folder above."""
    for folder in file.path.resolve().parents[:2]:
        try:
            result: Any = json.loads((folder / RESULT).read_bytes())
        except (OSError, ValueError, RecursionError):
            continue
        return {
            "task": walk(result, ("task_name",)),
            "source": walk(result, ("source",)),
            "reward": walk(result, ("verifier_result", "rewards", "reward")),
        }
    return {}


def prepare(record: Record, context: Context) -> Record | None:
    """A run with its steps that a model made."""
    steps = [
        step(metrics, money=walk(metrics, ("cost_usd",)))
        for event in items(record.get("steps"))
        if (metrics := walk(event, ("metrics",))) is not None
    ]
    return record | {"@steps": steps or None}


def _problem(record: Record, position: int, context: Context) -> Any:
    task = context.header.get("task")
    return task if task is not None else record.get("session_id")


FORMAT = Format(
    name="atif",
    title="ATIF trajectory",
    recognized_by=(("schema_version", "session_id", "agent.name"),),
    header=header,
    records=whole_records,
    prepare=prepare,
    fields=(
        column("archive", "agent.model_name", "agent.name"),
        column("competition", "@source"),
        column("question_id", "the task of the result, or else session_id", look_up=_problem),
        ONE_RUN,
        *of_steps("steps.*.metrics"),
        column("text", "steps.*.message",
               make=lambda record: spoken(record.get("steps"), "source", "agent", "message")),
        column("correct", "@reward"),
    ),
    has_answers=False,
    absent={"correct": NO_LABELS, "competition": "a trajectory names no benchmark",
            "finish_reason": "ATIF records none"},
)  # fmt: skip
