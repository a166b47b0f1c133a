"""SWE-agent `.traj`: a run per file; tokens and money are recorded for the whole run alone."""

import json
from typing import Any

from audit.sources.formats import Context, Format, Record, column
from audit.sources.formats.trajectories import NO_LABELS, of_file, whole_records
from audit.sources.paths import walk


def prepare(record: Record, context: Context) -> Record | None:
    """A run with the model that its settings name, in JSON of their own."""
    settings = record.get("replay_config")
    try:
        settings = json.loads(settings) if isinstance(settings, str) else settings
    except (ValueError, RecursionError):
        settings = None
    return record | {"model in settings": walk(settings, ("agent", "model", "name"))}


def _text(record: Record, position: int, context: Context) -> Any:
    steps = record.get("trajectory")
    said = [walk(one, ("response",)) for one in (steps if isinstance(steps, list) else [])]
    texts = [text for text in said if isinstance(text, str) and text.strip()]
    return walk(record, ("info", "submission")) or "\n\n".join(texts) or None


def _finish(status: Any) -> Any:
    return "stop" if status == "submitted" else status


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
        column("seed", "one attempt a file", look_up=lambda record, position, context: 0),
        column("prompt_tokens", "info.model_stats.tokens_sent"),
        column("completion_tokens", "info.model_stats.tokens_received"),
        column("money", "info.model_stats.instance_cost"),
        column("finish_reason", "info.exit_status", read=_finish),
        column("text", "info.submission, or else what the agent said", look_up=_text),
    ),
    has_answers=False,
    absent={"correct": NO_LABELS, "competition": "a trajectory names no benchmark",
            "archive": "its settings name no model"},
)  # fmt: skip
