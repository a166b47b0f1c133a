"""Anthropic message batches and dumped messages: a message per line, its content in parts."""

from typing import Any

from audit.sources.formats import Context, Format, Record, column, renamed, texts_of, under
from audit.sources.formats.flat import OWN
from audit.sources.formats.openai import FAILED, attempt_number, problem
from audit.sources.paths import walk

FINISH = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}
# Where a message is: in a batch's result, beside own fields, or the record itself.
PLACES = ("result.message.", "message.", "response.", "")


def _message(record: Record) -> Record | None:
    messages = (walk(record, place.split(".")[:-1]) for place in PLACES)
    return next((m for m in messages if isinstance(walk(m, ("content",)), list)), None)


def prepare(record: Record, context: Context) -> Record | None:
    """A request that failed holds no attempt."""
    if _message(record) is not None:
        return record
    context.notes[FAILED] += 1
    return None


def _prompt(record: Record) -> Any:
    """The tokens of the prompt, with those of the cache, which are counted apart."""
    usage = walk(_message(record), ("usage",))
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    counts = [walk(usage, (name,)) for name in names]
    numbers = [count for count in counts if isinstance(count, int)]
    return sum(numbers) if counts[0] is not None else None


def _said(record: Record, kind: str) -> Any:
    message = _message(record) or {"content": []}
    return "".join(texts_of(message["content"], kind)) or None


def _attempt(record: Record) -> Any:
    number = attempt_number(record)
    return 0 if number is None else number


_any = under(*PLACES)
FORMAT = Format(
    name="anthropic",
    title="Anthropic messages",
    recognized_by=(
        ("custom_id", "result.type"),
        ("content.*.type", "stop_reason", "usage.output_tokens"),
        ("message.content.*.type", "message.stop_reason"),
        ("response.content.*.type", "response.stop_reason"),
    ),
    prepare=prepare,
    fields=(
        column("archive", *_any("model")),
        *OWN,
        column("question_id", "custom_id, without an attempt's number", make=problem),
        column("seed", "custom_id, or else 0", make=_attempt),
        column("prompt_tokens", "usage, with what a cache gave", make=_prompt),
        column("cached_tokens", *_any("usage.cache_read_input_tokens")),
        column("completion_tokens", *_any("usage.output_tokens")),
        column("finish_reason", *_any("stop_reason"), read=renamed(FINISH)),
        column("text", "content.*.text", make=lambda record: _said(record, "text")),
        column("reasoning", "content.*.thinking", make=lambda record: _said(record, "thinking")),
    ),
    absent={"competition": "a request names no benchmark", "correct": "an API grades nothing"},
)
