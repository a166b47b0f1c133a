"""Gemini batch output and dumped responses: a response per line, its candidates the attempts."""

from collections.abc import Callable
from typing import Any

from audit.sources.formats import Context, Format, Record, as_references, column
from audit.sources.formats.flat import FORMAT as FLAT
from audit.sources.formats.flat import as_flag
from audit.sources.paths import walk

KNOWN = {one.column: one for one in FLAT.fields}
FINISH = {"STOP": "stop", "MAX_TOKENS": "length"}
PLACES = ("response.", "")


def _any(path: str) -> tuple[str, ...]:
    return tuple(place + path for place in PLACES)


def prepare(record: Record, context: Context) -> Record | None:
    """A request without candidates has failed, and is no attempt."""
    if any(walk(record, path.split(".")) for path in _any("candidates")):
        return record
    context.notes["requests failed and hold no attempt: left out"] += 1
    return None


def _candidates(record: Record) -> list[Any]:
    found = (walk(record, path.split(".")) for path in _any("candidates"))
    return next((one for one in found if isinstance(one, list)), [])


def _tokens(record: Record, position: int, context: Context) -> Any:
    """What was generated, thoughts included; usage counts all candidates together."""
    places = (path.split(".") for path in _any("usageMetadata"))
    usage = next((u for keys in places if (u := walk(record, keys)) is not None), None)
    said, thought = (walk(usage, (f"{name}TokenCount",)) for name in ("candidates", "thoughts"))
    if len(_candidates(record)) != 1 or not isinstance(said, int):
        return None
    return said + thought if isinstance(thought, int) else said


def _said(is_thought: bool) -> Callable[[Record, int, Context], Any]:
    def join(record: Record, position: int, context: Context) -> Any:
        parts = walk(_candidates(record)[position], ("content", "parts"))
        texts = [
            walk(part, ("text",))
            for part in (parts if isinstance(parts, list) else [])
            if bool(walk(part, ("thought",))) == is_thought
        ]
        return "".join(text for text in texts if isinstance(text, str)) or None

    return join


def _finish(reason: Any) -> Any:
    return FINISH.get(reason, reason) if isinstance(reason, str) else reason


FORMAT = Format(
    name="gemini",
    title="Gemini responses",
    recognized_by=(("response.candidates.*.content",), ("candidates.*.content",)),
    prepare=prepare,
    attempts_at=_any("candidates"),
    fields=(
        column("archive", *_any("modelVersion"), *_any("model_version"), "model"),
        column("competition", *KNOWN["competition"].paths),
        column("question_id", *KNOWN["question_id"].paths, "key", "custom_id"),
        column("seed", *KNOWN["seed"].paths, *_any("candidates.*.index"), "*"),
        column("prompt_tokens", *_any("usageMetadata.promptTokenCount")),
        column("cached_tokens", *_any("usageMetadata.cachedContentTokenCount")),
        column(
            "completion_tokens",
            "usageMetadata.candidatesTokenCount and thoughtsTokenCount",
            look_up=_tokens,
        ),
        column("finish_reason", *_any("candidates.*.finishReason"), read=_finish),
        column("text", "candidates.*.content.parts", look_up=_said(False)),
        column("reasoning", "candidates.*.content.parts", look_up=_said(True)),
        column("correct", *KNOWN["correct"].paths, read=as_flag),
        column("references", *KNOWN["references"].paths, read=as_references),
    ),
    absent={
        "competition": "a request names no benchmark",
        "completion_tokens": "usage counts the tokens of all candidates of a request together",
        "correct": "an API grades nothing",
    },
)
