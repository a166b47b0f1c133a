"""tau-bench results: an array of runs with their messages and reward, and no usage."""

from audit.sources.formats import Format, column
from audit.sources.formats.trajectories import spoken

FORMAT = Format(
    name="tau_bench",
    title="tau-bench results",
    recognized_by=(("task_id", "reward", "traj"),),
    fields=(
        column("question_id", "task_id"),
        column("seed", "trial"),
        column(
            "text", "what the agent said in traj", make=lambda record: spoken(record.get("traj"))
        ),
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
