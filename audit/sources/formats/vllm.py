"""vLLM `RequestOutput` dumps: a request per line, its outputs in a list."""

from typing import Any

from audit.sources.formats import Context, Format, Record, as_count, as_references, taken
from audit.sources.formats.flat import FORMAT as FLAT
from audit.sources.paths import walk

AGAIN = (
    "requests repeat a prompt under another id, and count as problems of their own; "
    "if they are attempts at one, pass --map question_id=prompt --map seed=@row"
)
KNOWN = {one.column: one for one in FLAT.fields}
# What people add to a request: the problem's own id goes before the request's.
PROBLEM = (*KNOWN["question_id"].paths, *KNOWN["question_id"].of_rows, "request_id", "prompt")


def adjust(record: Record, context: Context) -> Record | None:
    """A request as it is; one whose prompt was there before is told."""
    prompt, request = record.get("prompt"), record.get("request_id")
    is_named = isinstance(prompt, str) and isinstance(request, str | int)
    if is_named and context.seen.setdefault(hash(prompt), request) != request:
        context.notes[AGAIN] += 1
    return record


def _mean_logprob(record: Record, position: int, context: Context) -> Any:
    """The mean of what vLLM sums up; a sum over no tokens has none."""
    total = walk(record, ("outputs", "*", "cumulative_logprob"), position)
    tokens = walk(record, ("outputs", "*", "token_ids"), position)
    is_number = isinstance(total, int | float) and not isinstance(total, bool)
    return total / len(tokens) if is_number and isinstance(tokens, list) and tokens else None


FORMAT = Format(
    name="vllm",
    title="vLLM RequestOutput dump",
    marks=(("outputs.*.text", "outputs.*.token_ids"),),
    adjust=adjust,
    each=("outputs",),
    fields=(
        taken("archive", *KNOWN["archive"].paths),
        taken("competition", *KNOWN["competition"].paths),
        taken("question_id", *PROBLEM),
        taken("seed", "outputs.*.seed", "outputs.*.index", "*"),
        taken("prompt_tokens", "prompt_token_ids", read=as_count),
        taken("completion_tokens", "outputs.*.token_ids", read=as_count),
        taken("finish_reason", "outputs.*.finish_reason"),
        taken("text", "outputs.*.text"),
        taken("correct", "outputs.*.correct", "outputs.*.is_correct"),
        taken(
            "mean_logprob",
            "outputs.*.cumulative_logprob over the length of token_ids",
            find=_mean_logprob,
            needs=("outputs",),
        ),
        taken("references", *KNOWN["references"].paths, "gold", read=as_references),
    ),
    absent={
        "archive": "vLLM records none",
        "competition": "vLLM records none",
        "correct": "vLLM grades nothing",
    },
)
