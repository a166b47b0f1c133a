"""OpenHands `output.jsonl`: a run per line, its model calls in the metrics as steps."""

from itertools import zip_longest
from typing import Any

from audit.sources.formats import Context, Format, Record, column
from audit.sources.formats.trajectories import NO_LABELS, ONE_RUN, of_steps, spoken, step
from audit.sources.paths import walk


def prepare(record: Record, context: Context) -> Record | None:
    """A run with its model calls as steps, or as one step where only the sums are recorded."""
    metrics = record.get("metrics")
    calls = walk(metrics, ("token_usages",))
    usage = walk(metrics, ("accumulated_token_usage",))
    if isinstance(calls, list) and calls:
        costs, times = (
            [walk(value, (name,)) for value in values] if _is_as_long(values, calls) else []
            for name, values in (
                ("cost", walk(metrics, ("costs",))),
                ("latency", walk(metrics, ("response_latencies",))),
            )
        )
        steps = [
            step(_usage(call), money=cost, seconds=time)
            for call, cost, time in zip_longest(calls, costs, times)
        ]
    else:
        money = walk(metrics, ("accumulated_cost",))
        steps = [step(_usage(usage), money=money)] if usage is not None else []
    return record | {"@steps": steps or None}


def _is_as_long(values: Any, calls: list[Any]) -> bool:
    return isinstance(values, list) and len(values) == len(calls)


def _usage(call: Any) -> Record:
    """A call's usage; what was read from a cache is part of its prompt."""
    names = ("prompt_tokens", "completion_tokens")
    return {name: walk(call, (name,)) for name in names} | {
        "cached_tokens": walk(call, ("cache_read_tokens",))
    }


def _text(record: Record) -> Any:
    """The patch, or else what the agent said."""
    patch = walk(record, ("test_result", "git_patch")) or record.get("git_patch")
    if isinstance(patch, str) and patch.strip():
        return patch
    return spoken(record.get("history"), "source", "agent", "message")


def _finish(record: Record) -> Any:
    """A run without an error has ended by itself, as far as the log says."""
    error = record.get("error")
    return "stop" if not error else str(error).splitlines()[0][:200]


FORMAT = Format(
    name="openhands",
    title="OpenHands output",
    recognized_by=(("instance_id", "metadata.llm_config", "metrics"),),
    prepare=prepare,
    fields=(
        column("archive", "metadata.llm_config.model"),
        column("competition", "metadata.dataset"),
        column("question_id", "instance_id"),
        ONE_RUN,
        *of_steps("metrics.token_usages"),
        column("finish_reason", "error", make=_finish),
        column("text", "test_result.git_patch, or else what the agent said", make=_text),
        column("correct", "report.resolved", "test_result.report.resolved"),
    ),
    has_answers=False,
    absent={"correct": NO_LABELS, "competition": "its metadata name no dataset"},
)
