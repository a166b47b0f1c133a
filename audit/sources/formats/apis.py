"""What APIs answer, in batches or dumped: a line per request; a declaration per provider."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from audit.sources.formats import (
    Context,
    Format,
    Record,
    as_count,
    as_references,
    column,
    is_number,
    mean_logprob,
    renamed,
    texts_of,
    under,
)
from audit.sources.formats.flat import KNOWN, OWN
from audit.sources.paths import items, value_at, walk

# An attempt's number at the end of a custom_id, where it says that it is one: p1#0, p1-attempt-0.
# After a mere hyphen it may as well be the problem's: request-1.
ATTEMPT = re.compile(
    r"(.+?)(?:#|::|[-_/.:](?:attempt|sample|seed|epoch|repeat|rep|run|try|trial)[-_/.:=#]?)(\d+)"
)
FAILED = "requests failed and hold no attempt: left out"
NO_BENCHMARK = "a request names no benchmark"
NO_GRADES = "an API grades nothing"


def _answered(
    record: Record, context: Context, *, holds_attempt: Callable[[Record], Any]
) -> Record | None:
    """Return a record that holds an attempt; a request that failed holds none."""
    if holds_attempt(record):
        return record
    context.notes[FAILED] += 1
    return None


def _own(column: str, record: Record) -> Any:
    """Return what a user has put beside a completion, under a known name."""
    names = (*KNOWN[column].paths, *KNOWN[column].if_values_fit)
    # The id of a completion is no problem's; beside a response it is the user's.
    ids = KNOWN[column].if_one_row_per_problem if "response" in record else ()
    return value_at(record, *names, *ids)


def _task_and_attempt(record: Record) -> tuple[Any, Any]:
    """Return the problem and the attempt that a request's name says, or else the user's own."""
    name = record.get("custom_id")
    if name is None:
        return _own("question_id", record), _own("seed", record)
    match = ATTEMPT.fullmatch(name) if isinstance(name, str) else None
    return (match[1], int(match[2])) if match else (name, None)


# The column of problems, which requests of two providers name alike.
PROBLEM = column(
    "question_id",
    "custom_id, without an attempt's number",
    make=lambda record: _task_and_attempt(record)[0],
)


# OpenAI batch output, vLLM run-batch output and chat completions. A batch of /v1/responses is read
# as if it were one of chat completions with one choice.

# What servers say besides OpenAI's own words: TGI as documented, /v1/responses by its status.
FINISH = {"eos_token": "stop", "stop_sequence": "stop", "completed": "stop"}
INCOMPLETE = {"max_output_tokens": "length", "max_tokens": "length"}


def _prepare(record: Record, context: Context) -> Record | None:
    """Return a request without choices has failed, and is no attempt."""
    body = _body(record)
    if isinstance(body.get("output"), list) and "choices" not in body:
        completion = _as_completion(body)
        if "response" in record:
            record = record | {"response": record["response"] | {"body": completion}}
        else:
            record = completion
    return _answered(record, context, holds_attempt=lambda r: items(_body(r).get("choices")))


def _as_completion(body: Record) -> Record:
    """Return a body of /v1/responses as one of chat completions; a failed one has no choices."""
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


def _attempt(record: Record, position: int, context: Context) -> Any:
    index = walk(_body(record), ("choices", "*", "index"), position)
    is_one = len(_body(record)["choices"]) == 1
    is_named = record.get("custom_id") is not None
    own = _task_and_attempt(record)[1] if is_one or is_named else None
    return own if own is not None else position if index is None else index


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
    """Return what usage says of a request with one choice: of several it counts all together."""
    return lambda record: (
        walk(_body(record), ("usage", name)) if len(_body(record)["choices"]) == 1 else None
    )


_either = under("response.body.", "response.", "")
OPENAI = Format(
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
    prepare=_prepare,
    attempts_at=_either("choices"),
    fields=(
        column("archive", *_either("model")),
        *OWN,
        PROBLEM,
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
        "competition": NO_BENCHMARK,
        "completion_tokens": "usage counts the tokens of all choices of a request together",
        "correct": NO_GRADES,
    },
)


# Anthropic message batches and dumped messages: the content of a message is in parts, the message
# in a batch's result, beside own fields, or the record itself.

_of_message = under("result.message.", "message.", "response.", "")


def _content(record: Record) -> list[Any] | None:
    contents = (value_at(record, path) for path in _of_message("content"))
    return next((content for content in contents if isinstance(content, list)), None)


def _said(kind: str) -> Callable[[Record], Any]:
    return lambda record: "".join(texts_of(_content(record), kind)) or None


def _attempt_or_0(record: Record) -> Any:
    number = _task_and_attempt(record)[1]
    return 0 if number is None else number


def _prompt(record: Record) -> Any:
    """Return the tokens of the prompt, with those of the cache, which are counted apart."""
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    counts = [value_at(record, *_of_message(f"usage.{name}")) for name in names]
    numbers = [count for count in counts if isinstance(count, int)]
    return sum(numbers) if counts[0] is not None else None


ANTHROPIC = Format(
    name="anthropic",
    title="Anthropic messages",
    recognized_by=(
        ("custom_id", "result.type"),
        ("content.*.type", "stop_reason", "usage.output_tokens"),
        ("message.content.*.type", "message.stop_reason"),
        ("response.content.*.type", "response.stop_reason"),
    ),
    prepare=partial(_answered, holds_attempt=lambda record: _content(record) is not None),
    fields=(
        column("archive", *_of_message("model")),
        *OWN,
        PROBLEM,
        column("seed", "custom_id, or else 0", make=_attempt_or_0),
        column("prompt_tokens", "usage, with what a cache gave", make=_prompt),
        column("cached_tokens", *_of_message("usage.cache_read_input_tokens")),
        column("completion_tokens", *_of_message("usage.output_tokens")),
        column(
            "finish_reason",
            *_of_message("stop_reason"),
            read=renamed({"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}),
        ),
        column("text", "content.*.text", make=_said("text")),
        column("reasoning", "content.*.thinking", make=_said("thinking")),
    ),
    absent={"competition": NO_BENCHMARK, "correct": NO_GRADES},
)


# Gemini batch output and dumped responses: the candidates of a response are the attempts.

_of_response = under("response.", "")


def _candidates(record: Record) -> list[Any]:
    lists = (items(value_at(record, path)) for path in _of_response("candidates"))
    return next(filter(None, lists), [])


def _generated(record: Record) -> Any:
    """Return what was generated, thoughts included; usage counts all candidates together."""
    said, thought = (
        value_at(record, *_of_response(f"usageMetadata.{name}TokenCount"))
        for name in ("candidates", "thoughts")
    )
    if len(_candidates(record)) != 1 or not isinstance(said, int):
        return None
    return said + thought if isinstance(thought, int) else said


def _parts(is_thought: bool, record: Record, position: int, context: Context) -> Any:
    parts = items(value_at(_candidates(record)[position], "content.parts"))
    chosen = [part for part in parts if bool(value_at(part, "thought")) == is_thought]
    return "".join(texts_of(chosen)) or None


GEMINI = Format(
    name="gemini",
    title="Gemini responses",
    recognized_by=(("response.candidates.*.content",), ("candidates.*.content",)),
    prepare=partial(_answered, holds_attempt=_candidates),
    attempts_at=_of_response("candidates"),
    fields=(
        column("archive", *_of_response("modelVersion"), *_of_response("model_version"), "model"),
        *OWN,
        column("question_id", *KNOWN["question_id"].paths, "key", "custom_id"),
        column("seed", *KNOWN["seed"].paths, *_of_response("candidates.*.index"), "*"),
        column("prompt_tokens", *_of_response("usageMetadata.promptTokenCount")),
        column("cached_tokens", *_of_response("usageMetadata.cachedContentTokenCount")),
        column(
            "completion_tokens",
            "usageMetadata.candidatesTokenCount and thoughtsTokenCount",
            make=_generated,
        ),
        column(
            "finish_reason",
            *_of_response("candidates.*.finishReason"),
            read=renamed({"STOP": "stop", "MAX_TOKENS": "length"}),
        ),
        column("text", "candidates.*.content.parts", look_up=partial(_parts, False)),
        column("reasoning", "candidates.*.content.parts", look_up=partial(_parts, True)),
    ),
    absent={
        "competition": NO_BENCHMARK,
        "completion_tokens": "usage counts the tokens of all candidates of a request together",
        "correct": NO_GRADES,
    },
)


# vLLM `RequestOutput` dumps: a request per line, its outputs in a list.

AGAIN = (
    "requests repeat a prompt under another id, and count as problems of their own; "
    "if they are attempts at one, pass --map question_id=prompt --map seed=@row"
)
# What people add to a request: the problem's own id goes before the request's.
REQUESTED = (
    *KNOWN["question_id"].paths,
    *KNOWN["question_id"].if_one_row_per_problem,
    "request_id",
    "prompt",
)


def _told_again(record: Record, context: Context) -> Record | None:
    """Return a request as it is; a note reports one whose prompt occurred before."""
    prompt, request = record.get("prompt"), record.get("request_id")
    is_named = isinstance(prompt, str) and isinstance(request, str | int)
    if is_named and context.seen.setdefault(hash(prompt), request) != request:
        context.notes[AGAIN] += 1
    return record


def _mean_of_sum(record: Record, position: int, context: Context) -> Any:
    """Return the mean of what vLLM sums up; a sum over no tokens has none."""
    total = walk(record, ("outputs", "*", "cumulative_logprob"), position)
    tokens = walk(record, ("outputs", "*", "token_ids"), position)
    return total / len(tokens) if is_number(total) and isinstance(tokens, list) and tokens else None


def _seconds(record: Record) -> Any:
    """Return how long a request took, from its arrival to its end."""
    begin, end = (walk(record, ("metrics", name)) for name in ("arrival_time", "finished_time"))
    is_known = all(isinstance(time, int | float) for time in (begin, end))
    return end - begin if is_known and end >= begin else None


VLLM = Format(
    name="vllm",
    title="vLLM RequestOutput dump",
    recognized_by=(("outputs.*.text", "outputs.*.token_ids"),),
    prepare=_told_again,
    attempts_at=("outputs",),
    fields=(
        column("archive", *KNOWN["archive"].paths),
        column("competition", *KNOWN["competition"].paths),
        column("question_id", *REQUESTED),
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
            look_up=_mean_of_sum,
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
