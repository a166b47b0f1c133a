"""Inspect logs, `.eval` and `.json`: a sample per problem and epoch.

A run that was killed, or still goes on, has no header yet: what it began with is in its journal.
The text is the completion; reasoning that comes apart from it is not searched for a box.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from audit.sources import containers
from audit.sources.containers import sniff
from audit.sources.files import Row, SourceFile
from audit.sources.formats import (
    GRADES,
    Context,
    Format,
    Record,
    as_references,
    column,
    is_number,
    mean_logprob,
    renamed,
    under,
)
from audit.sources.json_stream import UNREADABLE, file_members, items_of, stream_records
from audit.sources.paths import items, walk
from audit.sources.zips import Zip, open_zip

HEADERS = ("header.json", "_journal/start.json")
FINISH = {"max_tokens": "length", "model_length": "length"}
# Limits on tokens cut an attempt as a generation limit does.
LENGTH_LIMITS = ("token", "context")
SEVERAL = (
    "samples spent more than their last call did: the cost is the whole sample's; if the model "
    "also graded, pass --map completion_tokens=output.usage.output_tokens"
)
LIMITED = "samples hit a limit and count as cut off: they were scored without the call that hit it"
CACHED = "samples read or wrote part of their prompts in a cache: those tokens are added"
ENDED = "of {0:,} samples are here: the run was killed, failed or still goes on"
# What a usage calls the tokens of a prompt that a cache gave.
CACHE_READ = "input_tokens_cache_read"
UNSCORED = "samples have no score: they have no label"
PARTIAL = "samples are scored P (partial), which is no label"
INVALID = "samples were invalidated: left out"
NO_STEPS = "samples made several calls that do not add up to their usage: they have no steps"
NO_USAGE = "samples record no token usage and have no cost: left out"
SCORERS = "several scorers: --map correct=scores.NAME.value says which counts"
# Scorers whose answer is the whole completion, and how long an extraction may be under others.
WHOLE = re.compile(r"(.*/)?(includes|model_graded_\w+)$")
LONGEST_EXTRACTION = 200
ANTHROPIC = re.compile("anthropic|claude", re.IGNORECASE)
ATTACHED = "attachment://"
DAMAGED = "not a readable Inspect log, it may be cut off"
# Where events begin and what follows them, as Inspect has written it: dense, before that indented.
EVENTS = ((b',"events":[', b'],"model_usage":'), (b',\n  "events": [', b'],\n  "model_usage":'))


def header(file: SourceFile) -> Record:
    """Read what the run was: its task, model and scorers."""
    with _readable(file):
        if not _is_zip(file):
            return _checked(_json_header(file))
        with open_zip(file.path, containers.LONGEST_LINE) as log:
            name = next((name for name in HEADERS if name in log.members), None)
            if name is None:
                raise ValueError("a zip archive, but no Inspect log is in it")
            header = _checked(json.loads(log.read(name)))
            return header | {"held": sum(map(_is_sample, log.members))}


def _is_zip(file: SourceFile) -> bool:
    return sniff(file).container == "zip"


@contextmanager
def _readable(file: SourceFile) -> Iterator[None]:
    try:
        yield
    except UNREADABLE as error:
        raise file.unreadable(f"{DAMAGED}: {error}") from None


def _checked(header: Any) -> Record:
    if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
        raise ValueError("its header does not say what was evaluated")
    return header


def _json_header(file: SourceFile) -> Record:
    header: Record = {}
    for key, value in file_members(file, "samples", DAMAGED):
        if key != "samples":
            header[key] = value
        elif "eval" in header:
            break
    return header


def _expected(header: Record) -> int | None:
    """Return how many samples a run that did not end by itself would have had."""
    if header.get("status") == "success" or "held" not in header:
        return None
    ids = walk(header, ("eval", "dataset", "sample_ids"))
    epochs = walk(header, ("eval", "config", "epochs")) or 1
    count = len(ids) if isinstance(ids, list) else walk(header, ("eval", "dataset", "samples"))
    is_known = isinstance(count, int) and isinstance(epochs, int)
    return count * epochs if is_known and count * epochs > header["held"] else None


def records(file: SourceFile, header: Record) -> Iterator[Row]:
    """Read sample after sample; one at a time is held."""
    if not _is_zip(file):
        yield from stream_records(file, items_of("samples"), DAMAGED)
        return
    with _readable(file), open_zip(file.path, containers.LONGEST_LINE) as log:
        names = [name for name in log.members if _is_sample(name)]
        for number, name in enumerate(names, 1):
            data = log.read(name)
            sample = _with_output(_without_events(data) or json.loads(data), log, name)
            if not isinstance(sample, dict):
                raise ValueError(f"sample {number} is no JSON object")
            yield number, sample, len(data), file.bytes * number // len(names)


def _is_sample(name: str) -> bool:
    return name.startswith("samples/") and name.endswith(".json")


def _without_events(data: bytes) -> Record | None:
    """Return a sample less its events, most of its bytes; None where they are not found.

    No string can hold these marks, for their quotes would be escaped, and a cut within an inner
    object leaves brackets that do not match: what parses was cut at the top.
    """
    for begin, end in EVENTS:
        start, stop = data.find(begin), data.rfind(end)
        if 0 < start < stop:
            try:
                sample: Record = json.loads(data[:start] + b"}")
                return sample | json.loads(b"{" + data[stop + 2 :])
            except ValueError:
                return None
    return None


def _with_output(sample: Any, log: Zip, name: str) -> Any:
    """Return a sample, with its events where the last output is lost or there are several calls."""
    if isinstance(sample, dict) and "events" not in sample and (
        not walk(sample, ("output", "choices")) or _has_calls(sample)
    ):  # fmt: skip
        return json.loads(log.read(name))
    return sample


def _has_calls(sample: Record) -> bool:
    """Return whether a sample spent more than its last call did."""
    last = walk(sample, ("output", "usage", "output_tokens"))
    spent = sample.get("model_usage")
    usages = spent.values() if isinstance(spent, dict) else ()
    return bool(usages) and all(walk(usage, ("output_tokens",)) != last for usage in usages)


def prepare(sample: Record, context: Context) -> Record | None:
    """Return a sample with the output it paid for; one that made no call holds no attempt."""
    model = walk(context.header, ("eval", "model"))
    if not context.names and isinstance(model, str):
        context.names["model"] = model
    if sample.get("invalidation"):
        context.notes[INVALID] += 1
        return None
    if expected := _expected(context.header):
        context.notes[ENDED.format(expected)] = context.header["held"]
    calls = [
        event
        for event in items(sample.get("events"))
        if isinstance(event, dict)
        and event.get("event") == "model"
        and event.get("model") == model
        and walk(event, ("output", "choices"))
    ]
    if calls and not walk(sample, ("output", "choices")):
        sample = sample | {"output": calls[-1]["output"]}
    sample.pop("events", None)
    sample = _with_usage(sample, str(model), context)
    sample = _with_steps(sample, calls, str(model), context)
    if not walk(sample, ("output", "choices")) and not sample.get("model_usage"):
        context.notes["samples ended before any call: left out"] += 1
        return None
    total = walk(sample, ("model_usage", str(model), "output_tokens"))
    is_last = total in (None, walk(sample, ("output", "usage", "output_tokens")))
    if not is_last and "calls" not in sample:
        context.notes[SEVERAL] += 1
    _tell_scores(sample, context)
    if sample.get("limit"):
        context.notes[LIMITED] += 1
    elif sample.get("error"):
        context.notes["samples ended in an error: they count as not completed"] += 1
    return sample


def _with_steps(sample: Record, calls: list[Any], model: str, context: Context) -> Record:
    """Return a sample with its calls as steps, where it made several that are all it spent."""
    if len(calls) < 2:
        return sample
    sample = sample | {"several": True}
    steps = [_step(call, model) for call in calls]
    for step, seconds in zip(steps, _step_seconds(sample, calls), strict=True):
        step["seconds"] = seconds
    totals = walk(sample, ("model_usage", model))
    for mine, theirs in (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens")):
        counts = [step[mine] for step in steps]
        is_whole = all(isinstance(count, int) for count in counts)
        if not is_whole or sum(counts) != walk(totals, (theirs,)):
            context.notes[NO_STEPS] += 1
            return sample
    return sample | {"calls": steps}


def _step(call: Any, model: str) -> Record:
    """Return one call of a model: what it read and wrote, and its price."""
    usage = walk(call, ("output", "usage"))
    return {
        "prompt_tokens": whole_prompt(usage, model),
        "cached_tokens": walk(usage, (CACHE_READ,)),
        "completion_tokens": walk(usage, ("output_tokens",)),
        "money": walk(usage, ("total_cost",)),
    }


def _step_seconds(sample: Record, calls: list[Any]) -> list[Any]:
    """Return the seconds from each call to the next one, tools included, the last to the end.

    Logs of before working times were recorded have the seconds of the calls alone.
    """
    times = [*(walk(call, ("working_start",)) for call in calls), sample.get("working_time")]
    if all(map(is_number, times)) and times == sorted(times):
        return [end - begin for begin, end in pairwise(times)]
    return [walk(call, ("output", "time")) for call in calls]


def _with_usage(sample: Record, model: str, context: Context) -> Record:
    """Return a sample with the cached part of its prompts added, where it is counted apart."""
    changed = False
    for keys in (("model_usage", model), ("output", "usage")):
        usage = walk(sample, keys)
        cached = _cached_apart(usage, model)
        if cached:
            usage = usage | {"input_tokens": usage["input_tokens"] + cached}
            changed = True
        elif _reads_more_than_it_has(usage):
            usage = usage | {CACHE_READ: None}
        else:
            continue
        first, second = keys
        sample = sample | {first: sample[first] | {second: usage}}
    if changed:
        context.notes[CACHED] += 1
    return sample


def _reads_more_than_it_has(usage: Any) -> bool:
    """Return whether a usage counts more tokens of the cache than of the prompt."""
    prompt, cached = (walk(usage, (name,)) for name in ("input_tokens", CACHE_READ))
    return isinstance(prompt, int) and isinstance(cached, int) and cached > prompt


def whole_prompt(usage: Any, model: str) -> Any:
    """Return the tokens of a prompt, with those of a cache that are counted apart."""
    count = walk(usage, ("input_tokens",))
    return count + _cached_apart(usage, model) if isinstance(count, int) else count


def _cached_apart(usage: Any, model: str) -> int:
    """Return the tokens of a prompt that a cache read or wrote, if they are counted apart.

    Anthropic counts them apart; for others the total tells.
    """
    names = (CACHE_READ, "input_tokens_cache_write")
    counts = [walk(usage, (name,)) or 0 for name in ("input_tokens", "output_tokens", *names)]
    if not all(isinstance(count, int) for count in counts) or not isinstance(usage, dict):
        return 0
    plain, cached = sum(counts[:2]), sum(counts[2:])
    total = usage.get("total_tokens")
    is_apart = total == plain + cached or (total != plain and ANTHROPIC.search(model) is not None)
    return cached if is_apart and isinstance(usage.get("input_tokens"), int) else 0


def _finish_reason(sample: Record) -> Any:
    """Return how a sample ended: a scored one that no limit or error ended is finished.

    An agent's last call mostly stops for a tool; one cut-off call among several is not its end.
    """
    kind = walk(sample, ("limit", "type"))
    if kind is not None:
        return "length" if kind in LENGTH_LIMITS else f"{kind} limit"
    if sample.get("error"):
        return "error"
    reason = walk(sample, ("output", "choices", "0", "stop_reason"))
    is_cut = reason == "model_length" or (reason == "max_tokens" and not sample.get("several"))
    return reason if is_cut or not sample.get("scores") else "stop"


def _text(sample: Record) -> Any:
    text = walk(sample, ("output", "completion"))
    return _joined(sample, "text") if text is None else _attached(sample, text)


def _joined(sample: Record, kind: str) -> Any:
    """Join the parts of a message that are of one kind; one part may be plain text."""
    content = walk(sample, ("output", "choices", "0", "message", "content"))
    if not isinstance(content, list):
        return _attached(sample, content) if kind == "text" else None
    parts = [_attached(sample, walk(part, (kind,))) for part in content]
    return "".join(part for part in parts if isinstance(part, str))


def _attached(sample: Record, text: Any) -> Any:
    """Return a text; a long one may be stored as an attachment under its hash."""
    if isinstance(text, str) and text.startswith(ATTACHED):
        return walk(sample, ("attachments", text.removeprefix(ATTACHED)))
    return text


def _score(field: str, sample: Record) -> Any:
    """Return a field of the only score; the user says which of several counts."""
    scores = sample.get("scores")
    if not isinstance(scores, dict) or len(scores) != 1:
        return None
    (score,) = scores.values()
    return score.get(field) if isinstance(score, dict) else None


def _extracted(sample: Record) -> Any:
    """Return the answer that the scorer extracted; the whole completion is no extraction."""
    answer = _score("answer", sample)
    scorer = next(iter(sample["scores"]), "") if answer is not None else ""
    is_long = isinstance(answer, str) and len(answer) > LONGEST_EXTRACTION
    is_whole = WHOLE.match(scorer) or (is_long and answer == _text(sample))
    return None if is_whole else answer


def _value(sample: Record) -> Any:
    # What ended in an error was never scored, and answers nothing.
    is_unscored = not sample.get("scores") and sample.get("error")
    return False if is_unscored else _score("value", sample)


def _tell_scores(sample: Record, context: Context) -> None:
    """Note what is no label: no score, or half of one; ask which of several counts."""
    scores = sample.get("scores")
    if isinstance(scores, dict) and len(scores) > 1:
        context.ambiguous["correct"] = SCORERS
    elif not scores and not sample.get("error"):
        context.notes[UNSCORED] += 1
    values = (
        [walk(score, ("value",)) for score in scores.values()] if isinstance(scores, dict) else []
    )
    if any(value == "P" or (isinstance(value, dict) and "P" in value.values()) for value in values):
        context.notes[PARTIAL] += 1


_spent = under("model_usage.{model}.", "output.usage.")
FORMAT = Format(
    name="inspect",
    title="an Inspect log",
    recognized_by=(("eval.task", "eval.model"),),
    suffixes=(".eval",),
    container="zip",
    header=header,
    records=records,
    prepare=prepare,
    fields=(
        column("archive", "@eval.model"),
        column("competition", "@eval.task"),
        column("question_id", "id"),
        column("seed", "epoch"),
        column("prompt_tokens", *_spent("input_tokens"), fall_through=True),
        column("completion_tokens", *_spent("output_tokens"), fall_through=True),
        column("cached_tokens", *_spent(CACHE_READ)),
        column("reasoning_tokens", "model_usage.{model}.reasoning_tokens"),
        column("money", "model_usage.{model}.total_cost"),
        column("seconds", "working_time", "total_time"),
        column("steps", "calls"),
        column(
            "finish_reason",
            "limit.type, error, or else output.choices.0.stop_reason",
            make=_finish_reason,
            read=renamed(FINISH),
        ),
        column("text", "output.completion", make=_text),
        column("archive_answer", "scores.*.answer", make=_extracted),
        column("correct", "scores.*.value", make=_value, read=renamed(GRADES[0])),
        column("mean_logprob", "output.choices.0.logprobs.content", read=mean_logprob),
        column("references", "target", read=as_references),
        column(
            "reasoning",
            "output.choices.0.message.content",
            make=lambda sample: _joined(sample, "reasoning"),
        ),
    ),
    left_out={"completion_tokens": NO_USAGE},
    absent={
        "correct": "no scorer, or several: --map correct=scores.NAME.value says which counts",
    },
)
