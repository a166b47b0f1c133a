"""ATIF, the agent trajectory interchange format: a run per file, a step per model call."""

import json
from typing import Any

from audit.sources.files import SourceFile
from audit.sources.formats import Context, Format, Record, column
from audit.sources.formats.trajectories import NO_LABELS, of_steps, step, whole_records
from audit.sources.paths import walk

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
    steps = record["steps"] if isinstance(record.get("steps"), list) else []
    made = [
        step(metrics, money=walk(metrics, ("cost_usd",)))
        for one in steps
        if (metrics := walk(one, ("metrics",))) is not None
    ]
    said = [walk(one, ("message",)) for one in steps if walk(one, ("source",)) == "agent"]
    texts = [text for text in said if isinstance(text, str) and text.strip()]
    return record | {"@steps": made or None, "@text": "\n\n".join(texts) or None}


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
        column("seed", "one attempt a file", look_up=lambda record, position, context: 0),
        *of_steps("steps.*.metrics"),
        column("text", "steps.*.message",
               look_up=lambda record, position, context: record["@text"]),
        column("correct", "@reward"),
    ),
    has_answers=False,
    absent={"correct": NO_LABELS, "competition": "a trajectory names no benchmark",
            "finish_reason": "ATIF records none"},
)  # fmt: skip
