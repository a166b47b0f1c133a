"""OpenAI batch output, vLLM run-batch output and chat completions: a line per request."""

import re
from typing import Any

from audit.sources.formats import Context, Format, Record, mean_logprob, taken
from audit.sources.paths import walk

# An attempt's number at the end of a custom_id, where it says that it is one: p1#0, p1-attempt-0.
# After a mere hyphen it may as well be the problem's: request-1.
ATTEMPT = re.compile(
    r"(.+?)(?:#|::|[-_/.:](?:attempt|sample|seed|epoch|repeat|rep|run|try|trial)[-_/.:=#]?)(\d+)"
)


def adjust(record: Record, context: Context) -> Record | None:
    """A request without choices has failed, and is no attempt."""
    choices = _body(record).get("choices")
    if choices and isinstance(choices, list):
        return record
    context.notes["requests failed and hold no attempt: left out"] += 1
    return None


def _body(record: Record) -> Record:
    body = walk(record, ("response", "body")) if "response" in record else record
    return body if isinstance(body, dict) else {}


def _problem(record: Record, position: int, context: Context) -> Any:
    name = record.get("custom_id")
    match = ATTEMPT.fullmatch(name) if isinstance(name, str) else None
    return match[1] if match else name


def _attempt(record: Record, position: int, context: Context) -> Any:
    name = record.get("custom_id")
    match = ATTEMPT.fullmatch(name) if isinstance(name, str) else None
    index = walk(_body(record), ("choices", "*", "index"), position)
    return int(match[2]) if match else position if index is None else index


def _tokens(record: Record, position: int, context: Context) -> Any:
    """Usage counts all choices together: for one of several, only its log-probabilities tell."""
    body = _body(record)
    total, choices = walk(body, ("usage", "completion_tokens")), body["choices"]
    if len(choices) == 1:
        return total
    counts = [_logged(choice) for choice in choices]
    if any(count is None for count in counts) or total not in (None, sum(counts)):
        return None
    return counts[position]


def _logged(choice: Any) -> Any:
    content = walk(choice, ("logprobs", "content"))
    return len(content) if isinstance(content, list) else None


def _either(path: str) -> tuple[str, str]:
    return f"response.body.{path}", path


FORMAT = Format(
    name="openai",
    title="OpenAI batch or vLLM run-batch output",
    marks=(("custom_id", "response", "error"), ("response.body.choices",), ("choices", "object")),
    adjust=adjust,
    each=_either("choices"),
    fields=(
        taken("archive", *_either("model")),
        taken("question_id", "custom_id, without an attempt's number", find=_problem),
        taken("seed", "custom_id, or else choices.*.index", find=_attempt),
        taken("prompt_tokens", *_either("usage.prompt_tokens")),
        taken(
            "completion_tokens",
            "usage.completion_tokens, or the length of choices.*.logprobs.content where n > 1",
            find=_tokens,
        ),
        taken("finish_reason", *_either("choices.*.finish_reason")),
        taken("text", *_either("choices.*.message.content"), *_either("choices.*.text")),
        taken("mean_logprob", *_either("choices.*.logprobs.content"), read=mean_logprob),
        taken(
            "reasoning",
            *_either("choices.*.message.reasoning_content"),
            *_either("choices.*.message.reasoning"),
        ),
    ),
    absent={
        "competition": "a request names no benchmark",
        "completion_tokens": "usage counts the tokens of all choices of a request together",
        "correct": "an API grades nothing",
    },
)
