"""What logs of agents have in common: one attempt is a run, made of steps, one per model call."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from audit.sources import containers
from audit.sources.containers import unzipped
from audit.sources.files import SourceFile, Unreadable
from audit.sources.formats import Context, Field, Record, column
from audit.sources.json_stream import UNREADABLE, JsonStream
from audit.sources.paths import items, walk

# A run is the only attempt of its file or line.
ONE_RUN = column("seed", "one attempt a run", look_up=lambda record, position, context: 0)
NO_LABELS = "the log grades nothing: --labels FILE names who is right"


def whole_records(file: SourceFile, header: Record) -> Iterator[tuple[int, Record, int, int]]:
    """The objects of a file, however they are laid out: one, one a line, or in an array."""
    try:
        with open(file.path, "rb") as raw:
            stream = JsonStream(unzipped(raw), containers.LONGEST_LINE)
            before = 0
            runs = stream.items() if stream.begins_with("[") else stream.values()
            for number, record in enumerate(runs, 1):
                if not isinstance(record, dict):
                    raise ValueError(f"record {number} is no JSON object")
                done = raw.tell()
                yield number, record, max(done - before, 1), done
                before = done
    except UNREADABLE as error:
        raise Unreadable(f"{file.shown_name}: not readable as JSON: {error}") from None


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

    def total(name: str) -> Callable[[Record, int, Context], Any]:
        def add_up(record: Record, position: int, context: Context) -> Any:
            counts = [step[name] for step in record["@steps"] or () if step[name] is not None]
            return sum(counts) if counts else None

        return add_up

    return (
        column("steps", where, look_up=lambda record, position, context: record["@steps"]),
        column("prompt_tokens", f"the sum over {where}", look_up=total("prompt_tokens")),
        column("completion_tokens", f"the sum over {where}", look_up=total("completion_tokens")),
    )


def spoken(messages: Any) -> str | None:
    """What the agent said, message by message."""
    return joined(
        walk(message, ("content",))
        for message in items(messages)
        if walk(message, ("role",)) == "assistant"
    )


def joined(texts: Iterable[Any]) -> str | None:
    """What was said, without what is no text or blank."""
    return "\n\n".join(text for text in texts if isinstance(text, str) and text.strip()) or None


def of_file(file: SourceFile, *suffixes: str) -> str:
    """The name of a file that is called by its problem."""
    name = file.path.name
    return next((name.removesuffix(s) for s in suffixes if name.endswith(s)), name)


def in_order(record: Record, position: int, context: Context) -> Any:
    """The number of a record among those of its problem, which `numbered` has put there."""
    return record["@attempt"]


def numbered(record: Record, context: Context, *names: str) -> Record:
    """A record with its number among those that are alike in these."""
    key = tuple(str(record.get(name)) for name in names)
    number = context.seen[key] = context.seen.get(key, -1) + 1
    return record | {"@attempt": number}
