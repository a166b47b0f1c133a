"""Inspect logs, `.eval` and `.json`: a sample per problem and epoch.

A run that was killed, or still goes on, has no header yet: what it began with is in its journal.
The text is the completion; reasoning that comes apart from it is not searched for a box.
"""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from audit.sources import containers
from audit.sources.canonical import COLUMNS
from audit.sources.containers import sniff
from audit.sources.files import Row, SourceFile
from audit.sources.formats import (
    GRADES,
    REASONING,
    Context,
    Format,
    Record,
    as_references,
    compute_mean_logprob,
    declare_column,
    is_number,
    make_renamer,
)
from audit.sources.json_stream import UNREADABLE, make_item_reader, read_members, stream_records
from audit.sources.paths import as_list, find_value, walk
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
# The field of a usage for prompt tokens read from a cache.
CACHE_READ = "input_tokens_cache_read"
NO_STEPS = "samples made several calls that do not add up to their usage: they have no steps"
SCORERS = "several scorers: --map correct=scores.NAME.value says which counts"
# Scorers whose answer is the whole completion, and the longest extraction of others.
WHOLE = re.compile(r"(.*/)?(includes|model_graded_\w+)$")
LONGEST_EXTRACTION = 200
ANTHROPIC = re.compile("anthropic|claude", re.IGNORECASE)
ATTACHED = "attachment://"
DAMAGED = "not a readable Inspect log, it may be cut off"
# Conversions of Inspect's words, also of values that --map finds.
WORDS = {"finish_reason": make_renamer(FINISH), "correct": make_renamer(GRADES[0])}
# The bytes around the events of a sample: compact JSON of today, and indented JSON of old logs.
EVENTS = ((b',"events":[', b'],"model_usage":'), (b',\n  "events": [', b'],\n  "model_usage":'))


# The log: what the run was, and its samples


def read_records(context: Context) -> Iterator[Row]:
    """Yield the samples of a log that hold an attempt, with their canonical columns."""
    try:
        header = _read_header(context.file)
        for number, (sample, size, done) in enumerate(_read_samples(context.file), 1):
            if record := read_sample(sample, header, context):
                yield number, record, size, done
    except UNREADABLE as error:
        raise context.file.unreadable(f"{DAMAGED}: {error}") from None


def _read_header(file: SourceFile) -> Record:
    """Read the header of a log: task, model, scorers, and how many samples are there."""
    header: Any = {}
    if sniff(file).container == "zip":
        with open_zip(file.path, containers.LONGEST_LINE) as log:
            name = next((name for name in HEADERS if name in log.members), None)
            if name is None:
                raise ValueError("a zip archive, but no Inspect log is in it")
            header = json.loads(log.read(name))
            held = sum(map(_is_sample, log.members))
    else:
        for key, value in read_members(file, "samples", DAMAGED):
            if key != "samples":
                header[key] = value
            elif "eval" in header:
                break
        held = None
    if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
        raise ValueError("its header does not say what was evaluated")
    return header | {"held": held}


def _read_samples(file: SourceFile) -> Iterator[tuple[Record, int, int]]:
    """Yield the samples one at a time, each with its size and the bytes read so far."""
    if sniff(file).container != "zip":
        for _, sample, size, done in stream_records(file, make_item_reader("samples"), DAMAGED):
            yield sample, size, done
        return
    with open_zip(file.path, containers.LONGEST_LINE) as log:
        names = [name for name in log.members if _is_sample(name)]
        for number, name in enumerate(names, 1):
            data = log.read(name)
            sample = _add_events(_parse_without_events(data) or json.loads(data), log, name)
            if not isinstance(sample, dict):
                raise ValueError(f"sample {number} is no JSON object")
            yield sample, len(data), file.bytes * number // len(names)


def _is_sample(name: str) -> bool:
    return name.startswith("samples/") and name.endswith(".json")


def _parse_without_events(data: bytes) -> Record | None:
    """Parse a sample without its events, most of its bytes; return None where none are found.

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


def _add_events(sample: Any, log: Zip, name: str) -> Any:
    """Add the events of a sample where its output is lost or it made several calls."""
    if not isinstance(sample, dict) or "events" in sample:
        return sample
    last, spent = find_value(sample, "output.usage.output_tokens"), sample.get("model_usage")
    usages = spent.values() if isinstance(spent, dict) else ()
    has_calls = bool(usages) and all(find_value(usage, "output_tokens") != last for usage in usages)
    if has_calls or not find_value(sample, "output.choices"):
        return json.loads(log.read(name))
    return sample


# A sample: one attempt


def read_sample(sample: Record, header: Record, context: Context) -> Record | None:
    """Return a sample with its canonical columns; None where it holds no attempt.

    It holds none where it was invalidated, or ended before any call.
    """
    notes = context.notes
    model = str(find_value(header, "eval.model"))
    if expected := _count_expected(header):
        notes[ENDED.format(expected)] = header["held"]
    if sample.get("invalidation"):
        notes["samples were invalidated: left out"] += 1
        return None
    calls = [
        event
        for event in as_list(sample.pop("events", None))
        if isinstance(event, dict)
        and event.get("event") == "model"
        and event.get("model") == model
        and find_value(event, "output.choices")
    ]
    if calls and not find_value(sample, "output.choices"):
        sample = sample | {"output": calls[-1]["output"]}
    if not find_value(sample, "output.choices") and not sample.get("model_usage"):
        notes["samples ended before any call: left out"] += 1
        return None
    if sample.get("limit"):
        notes[LIMITED] += 1
    elif sample.get("error"):
        notes["samples ended in an error: they count as not completed"] += 1
    sample = _add_cached(sample, model, context)
    answer, label = _read_score(sample, context)
    columns = {
        "archive": find_value(header, "eval.model"),
        "competition": find_value(header, "eval.task"),
        "question_id": sample.get("id"),
        "seed": sample.get("epoch"),
        **_read_costs(sample, calls, model, context),
        "seconds": find_value(sample, "working_time", "total_time"),
        "finish_reason": _read_finish_reason(sample, has_calls=len(calls) > 1),
        "text": _read_text(sample),
        "archive_answer": answer,
        "correct": label,
        "mean_logprob": compute_mean_logprob(
            find_value(sample, "output.choices.0.logprobs.content")
        ),
        "references": as_references(sample.get("target")),
        "reasoning": _join_parts(sample, "reasoning"),
    }
    return sample | {name: value for name, value in columns.items() if value is not None}


def _read_costs(sample: Record, calls: list[Any], model: str, context: Context) -> Record:
    """Return the columns of cost of a sample: of the whole sample, else of its last call."""
    spent, last = walk(sample, ("model_usage", model)), find_value(sample, "output.usage")
    counts = {"spent": spent, "last": last}
    prompt = find_value(counts, "spent.input_tokens", "last.input_tokens")
    completion = find_value(counts, "spent.output_tokens", "last.output_tokens")
    steps = _read_steps(sample, calls, spent, model) if len(calls) > 1 else None
    if steps == []:
        context.notes[NO_STEPS] += 1
    if not steps and completion != find_value(last, "output_tokens"):
        context.notes[SEVERAL] += 1
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "cached_tokens": find_value(spent or last, CACHE_READ),
        "reasoning_tokens": find_value(spent, "reasoning_tokens"),
        "money": find_value(spent, "total_cost"),
        "steps": steps or None,
    }


def _count_expected(header: Record) -> int | None:
    """Return the planned number of samples of a run that has fewer; None for a complete one."""
    if header.get("status") == "success" or header.get("held") is None:
        return None
    ids = find_value(header, "eval.dataset.sample_ids")
    epochs = find_value(header, "eval.config.epochs") or 1
    count = len(ids) if isinstance(ids, list) else find_value(header, "eval.dataset.samples")
    is_known = isinstance(count, int) and isinstance(epochs, int)
    return count * epochs if is_known and count * epochs > header["held"] else None


def _read_steps(sample: Record, calls: list[Any], usage: Any, model: str) -> list[Record]:
    """Return the calls as steps, or none where they do not add up to the usage of the sample.

    A step lasts until the next call, tools included, the last one until the end. Logs without
    working times have the seconds of the calls alone.
    """
    times = [*(find_value(call, "working_start") for call in calls), sample.get("working_time")]
    if all(map(is_number, times)) and times == sorted(times):
        seconds = [end - begin for begin, end in pairwise(times)]
    else:
        seconds = [find_value(call, "output.time") for call in calls]
    usages = [_complete_usage(find_value(call, "output.usage"), model) for call in calls]
    for name in ("input_tokens", "output_tokens"):
        counts = [find_value(used, name) for used in usages]
        is_whole = all(isinstance(count, int) for count in counts)
        if not is_whole or sum(counts) != find_value(usage, name):
            return []
    return [
        {
            "prompt_tokens": used["input_tokens"],
            "cached_tokens": used.get(CACHE_READ),
            "completion_tokens": used["output_tokens"],
            "money": used.get("total_cost"),
            "seconds": time,
        }
        for used, time in zip(usages, seconds, strict=True)
    ]


def _add_cached(sample: Record, model: str, context: Context) -> Record:
    """Add cached tokens to the prompts of a sample where they are counted separately."""
    has_cached = False
    for first, second in (("model_usage", model), ("output", "usage")):
        usage = walk(sample, (first, second))
        if (whole := _complete_usage(usage, model)) is not usage:
            has_cached |= whole["input_tokens"] != usage["input_tokens"]
            sample = sample | {first: sample[first] | {second: whole}}
    context.notes.update([CACHED] * has_cached)
    return sample


def _complete_usage(usage: Any, model: str) -> Any:
    """Add the tokens read from or written to a cache to the prompt of a usage, where they lack.

    Anthropic counts them separately; for others the total tells.
    """
    names = ("input_tokens", "output_tokens", CACHE_READ, "input_tokens_cache_write")
    counts = [find_value(usage, name) or 0 for name in names]
    is_counted = isinstance(usage, dict) and isinstance(usage.get("input_tokens"), int)
    if not is_counted or not all(isinstance(count, int) for count in counts):
        return usage
    prompt, cached, total = counts[0], sum(counts[2:]), usage.get("total_tokens")
    plain = sum(counts[:2])
    if cached and (total == plain + cached or (total != plain and ANTHROPIC.search(model))):
        return usage | {"input_tokens": prompt + cached}
    # A cached part larger than its prompt is a mistake.
    return usage | {CACHE_READ: None} if counts[2] > prompt else usage


def _read_finish_reason(sample: Record, *, has_calls: bool) -> Any:
    """Return the finish reason of a sample: `stop` if it was scored without limit or error.

    An agent's last call mostly stops for a tool; one cut-off call among several is not its end.
    """
    kind = find_value(sample, "limit.type")
    if kind is not None:
        return "length" if kind in LENGTH_LIMITS else f"{kind} limit"
    if sample.get("error"):
        return "error"
    reason = find_value(sample, "output.choices.0.stop_reason")
    is_cut = reason == "model_length" or (reason == "max_tokens" and not has_calls)
    ended = reason if is_cut or not sample.get("scores") else "stop"
    return FINISH.get(ended, ended) if isinstance(ended, str) else ended


def _read_text(sample: Record) -> Any:
    text = find_value(sample, "output.completion")
    return _join_parts(sample, "text") if text is None else _find_attachment(sample, text)


def _join_parts(sample: Record, kind: str) -> Any:
    """Join the parts of the last message of one kind, such as text or reasoning."""
    content = find_value(sample, "output.choices.0.message.content")
    if not isinstance(content, list):
        return _find_attachment(sample, content) if kind == "text" else None
    parts = [_find_attachment(sample, walk(part, (kind,))) for part in content]
    return "".join(part for part in parts if isinstance(part, str))


def _find_attachment(sample: Record, text: Any) -> Any:
    """Return a text; look up a long one among the attachments of the sample."""
    if isinstance(text, str) and text.startswith(ATTACHED):
        return walk(sample, ("attachments", text.removeprefix(ATTACHED)))
    return text


def _read_score(sample: Record, context: Context) -> tuple[Any, Any]:
    """Return the extracted answer and the label of the only scorer; note why there is none.

    A sample that ended in an error was never scored: it has no answer, and its label is false.
    """
    scores, error = sample.get("scores"), sample.get("error")
    known = scores if isinstance(scores, dict) else {}
    if len(known) > 1:
        context.ambiguous["correct"] = SCORERS
    elif not scores and not error:
        context.notes["samples have no score: they have no label"] += 1
    values = [find_value(score, "value") for score in known.values()]
    if any(value == "P" or (isinstance(value, dict) and "P" in value.values()) for value in values):
        context.notes["samples are scored P (partial), which is no label"] += 1
    if len(known) != 1:
        return None, (False if error and not scores else None)
    ((scorer, score),) = known.items()
    answer = find_value(score, "answer")
    is_text = isinstance(answer, str) and (len(answer) > LONGEST_EXTRACTION or "\\boxed" in answer)
    # The whole completion is no extraction.
    is_whole = WHOLE.match(scorer) or (is_text and answer == _read_text(sample))
    return None if is_whole else answer, WORDS["correct"](values[0])


FORMAT = Format(
    name="inspect",
    title="an Inspect log",
    recognized_by=(("eval.task", "eval.model"),),
    suffixes=(".eval",),
    records=read_records,
    fields=tuple(
        declare_column(name, name, read=WORDS.get(name)) for name in (*COLUMNS, REASONING)
    ),
    left_out={"completion_tokens": "samples record no token usage and have no cost: left out"},
    absent={
        "correct": "no scorer, or several: --map correct=scores.NAME.value says which counts",
    },
)
