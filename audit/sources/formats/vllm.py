"""vLLM `RequestOutput` dumps: a request per line, its outputs in a list."""

from typing import Any

from audit.sources.formats import (
    Context,
    Format,
    Record,
    as_count,
    as_references,
    column,
    is_number,
)
from audit.sources.formats.flat import KNOWN
from audit.sources.paths import walk

AGAIN = (
    "requests repeat a prompt under another id, and count as problems of their own; "
    "if they are attempts at one, pass --map question_id=prompt --map seed=@row"
)
# What people add to a request: the problem's own id goes before the request's.
PROBLEM = (
    *KNOWN["question_id"].paths,
    *KNOWN["question_id"].if_one_row_per_problem,
    "request_id",
    "prompt",
)


def prepare(record: Record, context: Context) -> Record | None:
    """A request as it is; a note reports one whose prompt occurred before."""
    prompt, request = record.get("prompt"), record.get("request_id")
    is_named = isinstance(prompt, str) and isinstance(request, str | int)
    if is_named and context.seen.setdefault(hash(prompt), request) != request:
        context.notes[AGAIN] += 1
    return record


def _mean_logprob(record: Record, position: int, context: Context) -> Any:
    """The mean of what vLLM sums up; a sum over no tokens has none."""
    total = walk(record, ("outputs", "*", "cumulative_logprob"), position)
    tokens = walk(record, ("outputs", "*", "token_ids"), position)
    return total / len(tokens) if is_number(total) and isinstance(tokens, list) and tokens else None


def _seconds(record: Record) -> Any:
    """How long a request took, from its arrival to its end."""
    begin, end = (walk(record, ("metrics", name)) for name in ("arrival_time", "finished_time"))
    is_known = all(isinstance(time, int | float) for time in (begin, end))
    return end - begin if is_known and end >= begin else None


FORMAT = Format(
    name="vllm",
    title="vLLM RequestOutput dump",
    recognized_by=(("outputs.*.text", "outputs.*.token_ids"),),
    prepare=prepare,
    attempts_at=("outputs",),
    fields=(
        column("archive", *KNOWN["archive"].paths),
        column("competition", *KNOWN["competition"].paths),
        column("question_id", *PROBLEM),
        column("seed", "outputs.*.seed", "outputs.*.index", "*"),
        column("prompt_tokens", "prompt_token_ids", read=as_count),
        column("cached_tokens", "num_cached_tokens"),
        column("completion_tokens", "outputs.*.token_ids", read=as_count),
        column(
            "seconds",
            "metrics.finished_time less arrival_time",
            make=_seconds,
            looks_into=("metrics",),
        ),
        column("finish_reason", "outputs.*.finish_reason"),
        column("text", "outputs.*.text"),
        column("correct", "outputs.*.correct", "outputs.*.is_correct"),
        column(
            "mean_logprob",
            "outputs.*.cumulative_logprob over the length of token_ids",
            look_up=_mean_logprob,
            looks_into=("outputs",),
        ),
        column("references", *KNOWN["references"].paths, "gold", read=as_references),
    ),
    absent={
        "archive": "vLLM records none",
        "competition": "vLLM records none",
        "correct": "vLLM grades nothing",
    },
)
