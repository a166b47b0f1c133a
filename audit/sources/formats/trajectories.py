"""What logs of agents have in common: one attempt is a run, made of steps, one per model call."""

from collections.abc import Iterable, Iterator
from typing import Any

from audit.sources.files import Row, SourceFile
from audit.sources.formats import Context, Field, Record, column
from audit.sources.json_stream import JsonStream, stream_records
from audit.sources.paths import items, walk

# A run is the only attempt of its file or line.
ONE_RUN = column("seed", "one attempt a run", make=lambda record: 0)
NO_LABELS = "the log grades nothing: --labels FILE names who is right"


def whole_records(file: SourceFile, header: Record) -> Iterator[Row]:
    """The objects of a file, however they are laid out: one, one a line, or in an array."""
    return stream_records(file, JsonStream.each, "not readable as JSON")


def step(usage: Any, *, money: Any = None, seconds: Any = None) -> Record:
    """One model call: its usage as OpenAI or Anthropic count it, what it cost and how long."""
    cached = walk(usage, ("prompt_tokens_details", "cached_tokens"))
    return {
        "prompt_tokens": walk(usage, ("prompt_tokens",)),
        "cached_tokens": walk(usage, ("cached_tokens",)) if cached is None else cached,
        "completion_tokens": walk(usage, ("completion_tokens",)),
        "money": money,
        "seconds": seconds,
    }


def of_steps(where: str) -> tuple[Field, ...]:
    """The columns of a record whose steps `prepare` has put under `@steps`."""

    def total(name: str) -> Field:
        return column(name, f"the sum over {where}", make=lambda record: _sum(record, name))

    return (
        column("steps", where, make=lambda record: record["@steps"]),
        total("prompt_tokens"),
        total("completion_tokens"),
    )


def _sum(record: Record, name: str) -> Any:
    counts = [step[name] for step in record["@steps"] or () if step[name] is not None]
    return sum(counts) if counts else None


def spoken(
    messages: Any, speaker: str = "role", who: str = "assistant", said: str = "content"
) -> str | None:
    """What the agent said, message by message."""
    turns = (turn for turn in items(messages) if walk(turn, (speaker,)) == who)
    return joined(walk(turn, (said,)) for turn in turns)


def joined(texts: Iterable[Any]) -> str | None:
    """What was said, without what is no text or blank."""
    return "\n\n".join(text for text in texts if isinstance(text, str) and text.strip()) or None


def of_file(file: SourceFile, *suffixes: str) -> str:
    """The name of a file that is called by its problem."""
    name = file.path.name
    return next((name.removesuffix(s) for s in suffixes if name.endswith(s)), name)


def numbered(record: Record, context: Context, *names: str) -> Record:
    """A record with its number among those that are alike in these, as `@attempt`."""
    key = tuple(str(record.get(name)) for name in names)
    number = context.seen[key] = context.seen.get(key, -1) + 1
    return record | {"@attempt": number}
