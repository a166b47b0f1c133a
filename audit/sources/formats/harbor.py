"""Harbor trial `result.json`: a run per file; tokens and money are recorded for the whole run."""

from typing import Any

from audit.sources.formats import Format, Record, column
from audit.sources.formats.trajectories import NO_LABELS, ONE_RUN, whole_records


def _finish(record: Record) -> Any:
    """A run without an exception has ended by itself."""
    failure = record.get("exception_info")
    if not failure:
        return "stop"
    return str(failure.get("exception_type", "error")) if isinstance(failure, dict) else "error"


FORMAT = Format(
    name="harbor",
    title="Harbor trial result",
    recognized_by=(("task_name", "trial_name", "agent_result"),),
    records=whole_records,
    fields=(
        column("archive", "agent_info.model_info.name", "config.agent.model_name",
               "agent_info.name"),
        column("competition", "source"),
        column("question_id", "task_name"),
        ONE_RUN,
        column("prompt_tokens", "agent_result.n_input_tokens"),
        column("cached_tokens", "agent_result.n_cache_tokens"),
        column("completion_tokens", "agent_result.n_output_tokens"),
        column("money", "agent_result.cost_usd"),
        column("finish_reason", "exception_info", make=_finish),
        column("correct", "verifier_result.rewards.reward"),
    ),
    has_answers=False,
    absent={"correct": NO_LABELS, "competition": "the trial names no benchmark"},
)  # fmt: skip
