"""SWE-agent `.traj`: a run per file; tokens and money are recorded for the whole run alone."""

import json
from typing import Any

from audit.sources.formats import Context, Format, Record, column, renamed
from audit.sources.formats.trajectories import NO_LABELS, ONE_RUN, joined, of_file, whole_records
from audit.sources.paths import items, walk


def prepare(record: Record, context: Context) -> Record | None:
    """A run with the model that its settings name, in JSON of their own."""
    settings = record.get("replay_config")
    try:
        settings = json.loads(settings) if isinstance(settings, str) else settings
    except (ValueError, RecursionError):
        settings = None
    return record | {"model in settings": walk(settings, ("agent", "model", "name"))}


def _text(record: Record) -> Any:
    responses = (walk(step, ("response",)) for step in items(record.get("trajectory")))
    return walk(record, ("info", "submission")) or joined(responses)


FORMAT = Format(
    name="swe_agent",
    title="SWE-agent trajectory",
    recognized_by=(("trajectory", "info.model_stats"),),
    suffixes=(".traj",),
    records=whole_records,
    prepare=prepare,
    fields=(
        column("archive", "model in settings"),
        column("question_id", "the file's name",
               look_up=lambda record, position, context: of_file(context.file, ".traj", ".json")),
        ONE_RUN,
        column("prompt_tokens", "info.model_stats.tokens_sent"),
        column("completion_tokens", "info.model_stats.tokens_received"),
        column("money", "info.model_stats.instance_cost"),
        column("finish_reason", "info.exit_status", read=renamed({"submitted": "stop"})),
        column("text", "info.submission, or else what the agent said", make=_text),
    ),
    has_answers=False,
    absent={"correct": NO_LABELS, "competition": "a trajectory names no benchmark",
            "archive": "its settings name no model"},
)  # fmt: skip
