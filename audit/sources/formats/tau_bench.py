"""tau-bench results: an array of runs with their messages and reward, and no usage."""

from typing import Any

from audit.sources.formats import Context, Format, Record, column
from audit.sources.formats.trajectories import spoken


def _text(record: Record, position: int, context: Context) -> Any:
    return spoken(record.get("traj"))


FORMAT = Format(
    name="tau_bench",
    title="tau-bench results",
    recognized_by=(("task_id", "reward", "traj"),),
    fields=(
        column("question_id", "task_id"),
        column("seed", "trial"),
        column("text", "what the agent said in traj", look_up=_text),
        column("correct", "reward"),
    ),
    has_answers=False,
    absent={
        "archive": "results name no model",
        "competition": "results name no benchmark",
        "completion_tokens": "tau-bench records no usage",
        "finish_reason": "tau-bench records none",
    },
)
