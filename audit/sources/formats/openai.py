"""OpenAI batch output, vLLM run-batch output and chat completions: a line per request.

A batch of /v1/responses is read as if it were one of chat completions with one choice.
"""

import re
from collections.abc import Callable
from typing import Any

from audit.sources.formats import (
    Context,
    Format,
    Record,
    column,
    mean_logprob,
    renamed,
    texts_of,
    under,
)
from audit.sources.formats.flat import KNOWN, OWN
from audit.sources.paths import walk

# An attempt's number at the end of a custom_id, where it says that it is one: p1#0, p1-attempt-0.
# After a mere hyphen it may as well be the problem's: request-1.
ATTEMPT = re.compile(
    r"(.+?)(?:#|::|[-_/.:](?:attempt|sample|seed|epoch|repeat|rep|run|try|trial)[-_/.:=#]?)(\d+)"
)
FAILED = "requests failed and hold no attempt: left out"
# What servers say besides OpenAI's own words: TGI as documented, /v1/responses by its status.
FINISH = {"eos_token": "stop", "stop_sequence": "stop", "completed": "stop"}
INCOMPLETE = {"max_output_tokens": "length", "max_tokens": "length"}


def prepare(record: Record, context: Context) -> Record | None:
    """A request without choices has failed, and is no attempt."""
    body = _body(record)
    if isinstance(body.get("output"), list) and "choices" not in body:
        completion = _as_completion(body)
        if "response" in record:
            record = record | {"response": record["response"] | {"body": completion}}
        else:
            record = completion
    choices = _body(record).get("choices")
    if choices and isinstance(choices, list):
        return record
    context.notes[FAILED] += 1
    return None


def _as_completion(body: Record) -> Record:
    """A body of /v1/responses as one of chat completions; a failed one has no choices."""
    if body.get("status") not in ("completed", "incomplete"):
        return body | {"choices": []}
    said, thought = "", ""
    for item in body["output"]:
        if walk(item, ("type",)) == "message":
            said += "".join(texts_of(walk(item, ("content",))))
        elif walk(item, ("type",)) == "reasoning":
            thought += "".join(texts_of(walk(item, ("content",)) or walk(item, ("summary",))))
    reason = walk(body, ("incomplete_details", "reason")) or body["status"]
    usage = body.get("usage") if isinstance(body.get("usage"), dict) else {}
    choice = {
        "index": 0,
        "message": {"content": said, "reasoning_content": thought or None},
        "finish_reason": INCOMPLETE.get(reason, reason) if isinstance(reason, str) else reason,
    }
    counts = {
        "prompt_tokens": walk(usage, ("input_tokens",)),
        "prompt_tokens_details": walk(usage, ("input_tokens_details",)),
        "completion_tokens_details": walk(usage, ("output_tokens_details",)),
        "completion_tokens": walk(usage, ("output_tokens",)),
    }
    return body | {"choices": [choice], "usage": counts}


def _body(record: Record) -> Record:
    """The completion: in a batch's response, as a response beside own fields, or the record."""
    if "response" not in record:
        return record
    response = record["response"]
    body = response if walk(response, ("choices",)) is not None else walk(response, ("body",))
    return body if isinstance(body, dict) else {}


def _own(column: str, record: Record) -> Any:
    """What a user has put beside a completion, under a known name."""
    names = KNOWN[column].paths
    if column == "question_id":
        names = (*names, *KNOWN[column].if_values_fit)
        # The id of a completion is no problem's; beside a response it is the user's.
        names = (*names, *KNOWN[column].if_one_row_per_problem) if "response" in record else names
    elif column == "seed":
        names = (*names, *KNOWN[column].if_values_fit)
    return next((record[name] for name in names if record.get(name) is not None), None)


def problem(record: Record) -> Any:
    """The name of a request without an attempt's number, or else the user's own."""
    name = record.get("custom_id")
    if name is None:
        return _own("question_id", record)
    match = ATTEMPT.fullmatch(name) if isinstance(name, str) else None
    return match[1] if match else name


def _attempt(record: Record, position: int, context: Context) -> Any:
    index = walk(_body(record), ("choices", "*", "index"), position)
    is_one = len(_body(record)["choices"]) == 1
    is_named = record.get("custom_id") is not None
    own = attempt_number(record) if is_one or is_named else None
    return own if own is not None else position if index is None else index


def attempt_number(record: Record) -> Any:
    """The attempt's number in the name of a request, or else the user's own."""
    name = record.get("custom_id")
    match = ATTEMPT.fullmatch(name) if isinstance(name, str) else None
    if match:
        return int(match[2])
    return _own("seed", record) if name is None else None


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


def _of_one(name: str) -> Callable[[Record], Any]:
    """What usage says of a request with one choice: of several it counts all together."""
    return lambda record: (
        walk(_body(record), ("usage", name)) if len(_body(record)["choices"]) == 1 else None
    )


_either = under("response.body.", "response.", "")
FORMAT = Format(
    name="openai",
    title="OpenAI batch or vLLM run-batch output",
    recognized_by=(
        ("custom_id", "response", "error"),
        ("response.body.choices",),
        ("response.choices", "response.usage"),
        ("response.body.output", "response.body.status"),
        ("choices", "object"),
        ("output", "status", "object", "usage"),
    ),
    prepare=prepare,
    attempts_at=_either("choices"),
    fields=(
        column("archive", *_either("model")),
        *OWN,
        column("question_id", "custom_id, without an attempt's number", make=problem),
        column("seed", "custom_id, or else choices.*.index", look_up=_attempt),
        column("prompt_tokens", *_either("usage.prompt_tokens")),
        column("cached_tokens", *_either("usage.prompt_tokens_details.cached_tokens")),
        column("reasoning_tokens", *_either("usage.completion_tokens_details.reasoning_tokens")),
        column("total_tokens", "usage.total_tokens", make=_of_one("total_tokens")),
        column("money", "usage.cost", make=_of_one("cost")),
        column(
            "completion_tokens",
            "usage.completion_tokens, or the length of choices.*.logprobs.content where n > 1",
            look_up=_tokens,
        ),
        column("finish_reason", *_either("choices.*.finish_reason"), read=renamed(FINISH)),
        column("text", *_either("choices.*.message.content"), *_either("choices.*.text")),
        column("mean_logprob", *_either("choices.*.logprobs.content"), read=mean_logprob),
        column(
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
