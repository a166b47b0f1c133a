"""mini-swe-agent `.traj.json`: a run per file, a step per model call."""

from typing import Any

from audit.sources.formats import Context, Format, Record, column, renamed
from audit.sources.formats.trajectories import (
    NO_LABELS,
    ONE_RUN,
    of_file,
    of_steps,
    spoken,
    step,
    whole_records,
)
from audit.sources.paths import items, walk


def prepare(record: Record, context: Context) -> Record | None:
    """A run with its model calls as steps."""
    calls = [walk(message, ("extra",)) for message in items(record.get("messages"))]
    steps = [
        step(walk(call, ("response", "usage")), money=walk(call, ("cost",)))
        for call in calls
        if walk(call, ("response", "usage")) is not None
    ]
    models = [name for call in calls if (name := walk(call, ("response", "model")))]
    problem = record.get("instance_id") or of_file(context.file, ".traj.json", ".json")
    return record | {
        "@steps": steps or None,
        "first model": models[0] if models else None,
        "@problem": problem,
    }


def _text(record: Record) -> Any:
    return walk(record, ("info", "submission")) or spoken(record.get("messages"))


FORMAT = Format(
    name="mini_swe_agent",
    title="mini-swe-agent trajectory",
    recognized_by=(("messages", "info.exit_status", "info.model_stats"),),
    suffixes=(".traj.json",),
    records=whole_records,
    prepare=prepare,
    fields=(
        column("archive", "info.config.model.model_name", "first model"),
        column("question_id", "instance_id, or else the file's name",
               make=lambda record: record["@problem"]),
        ONE_RUN,
        *of_steps("messages.*.extra.response.usage"),
        column("finish_reason", "info.exit_status", read=renamed({"Submitted": "stop"})),
        column("text", "info.submission, or else what the agent said", make=_text),
    ),
    has_answers=False,
    absent={"correct": NO_LABELS, "competition": "a trajectory names no benchmark"},
)  # fmt: skip
