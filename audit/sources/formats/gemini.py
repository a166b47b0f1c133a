"""Gemini batch output and dumped responses: a response per line, its candidates the attempts."""

from functools import partial
from typing import Any

from audit.sources.formats import Context, Format, Record, column, renamed, texts_of, under
from audit.sources.formats.flat import KNOWN, OWN
from audit.sources.formats.openai import FAILED
from audit.sources.paths import items, walk

FINISH = {"STOP": "stop", "MAX_TOKENS": "length"}
_any = under("response.", "")


def prepare(record: Record, context: Context) -> Record | None:
    """A request without candidates has failed, and is no attempt."""
    if _candidates(record):
        return record
    context.notes[FAILED] += 1
    return None


def _candidates(record: Record) -> list[Any]:
    lists = (items(walk(record, path.split("."))) for path in _any("candidates"))
    return next(filter(None, lists), [])


def _tokens(record: Record) -> Any:
    """What was generated, thoughts included; usage counts all candidates together."""
    places = (path.split(".") for path in _any("usageMetadata"))
    usage = next((u for keys in places if (u := walk(record, keys)) is not None), None)
    said, thought = (walk(usage, (f"{name}TokenCount",)) for name in ("candidates", "thoughts"))
    if len(_candidates(record)) != 1 or not isinstance(said, int):
        return None
    return said + thought if isinstance(thought, int) else said


def _said(is_thought: bool, record: Record, position: int, context: Context) -> Any:
    parts = items(walk(_candidates(record)[position], ("content", "parts")))
    chosen = [part for part in parts if bool(walk(part, ("thought",))) == is_thought]
    return "".join(texts_of(chosen)) or None


FORMAT = Format(
    name="gemini",
    title="Gemini responses",
    recognized_by=(("response.candidates.*.content",), ("candidates.*.content",)),
    prepare=prepare,
    attempts_at=_any("candidates"),
    fields=(
        column("archive", *_any("modelVersion"), *_any("model_version"), "model"),
        *OWN,
        column("question_id", *KNOWN["question_id"].paths, "key", "custom_id"),
        column("seed", *KNOWN["seed"].paths, *_any("candidates.*.index"), "*"),
        column("prompt_tokens", *_any("usageMetadata.promptTokenCount")),
        column("cached_tokens", *_any("usageMetadata.cachedContentTokenCount")),
        column(
            "completion_tokens",
            "usageMetadata.candidatesTokenCount and thoughtsTokenCount",
            make=_tokens,
        ),
        column("finish_reason", *_any("candidates.*.finishReason"), read=renamed(FINISH)),
        column("text", "candidates.*.content.parts", look_up=partial(_said, False)),
        column("reasoning", "candidates.*.content.parts", look_up=partial(_said, True)),
    ),
    absent={
        "competition": "a request names no benchmark",
        "completion_tokens": "usage counts the tokens of all candidates of a request together",
        "correct": "an API grades nothing",
    },
)
