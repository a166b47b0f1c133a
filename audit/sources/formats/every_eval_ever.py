"""Every Eval Ever, instance records: a line per sample and attempt, with usage and latency."""

from typing import Any

from audit.sources.formats import Context, Format, Record, as_references, as_text, column
from audit.sources.formats.agents import spoken
from audit.sources.formats.inspect_log import whole_prompt
from audit.sources.paths import items, walk


def prepare(record: Record, context: Context) -> Record | None:
    """A record with its number among those of one model and sample."""
    key = tuple(str(record.get(name)) for name in ("model_id", "evaluation_name", "sample_id"))
    context.seen[key] = context.seen.get(key, -1) + 1
    return record | {"@attempt": context.seen[key]}


def _text(record: Record) -> Any:
    texts = walk(record, ("output", "raw"))
    if isinstance(texts, list) and texts:
        return "\n\n".join(texts)
    return spoken("messages", role="assistant")(record)


def _answer(record: Record) -> Any:
    """What was extracted last, as the final answer."""
    final = [
        walk(answer, ("extracted_value",))
        for answer in items(record.get("answer_attribution"))
        if walk(answer, ("is_terminal",))
    ]
    return final[-1] if final else None


def _prompt(record: Record) -> Any:
    return whole_prompt(record.get("token_usage"), str(record.get("model_id")))


def _seconds(milliseconds: Any) -> Any:
    return milliseconds / 1000 if isinstance(milliseconds, int | float) else milliseconds


FORMAT = Format(
    name="every_eval_ever",
    title="Every Eval Ever instance records",
    recognized_by=(("evaluation_id", "sample_id", "evaluation.is_correct"),),
    prepare=prepare,
    fields=(
        column("archive", "model_id"),
        column("competition", "evaluation_name"),
        column("question_id", "sample_id"),
        column("seed", "the order of a sample's records", make=lambda record: record["@attempt"]),
        column("prompt_tokens", "token_usage.input_tokens", make=_prompt),
        column("cached_tokens", "token_usage.input_tokens_cache_read"),
        column("completion_tokens", "token_usage.output_tokens"),
        column("reasoning_tokens", "token_usage.reasoning_tokens"),
        column("seconds", "performance.latency_ms", read=_seconds),
        column("text", "output.raw, or else messages", make=_text),
        column("archive_answer", "answer_attribution", make=_answer, read=as_text),
        column("correct", "evaluation.is_correct"),
        column("references", "input.reference", read=as_references),
    ),
    absent={"finish_reason": "the schema has none"},
)
