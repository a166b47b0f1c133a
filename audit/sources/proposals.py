"""What could be a missing column: by name and by values, as options that are ready to pass."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from audit.errors import AuditError
from audit.sources.canonical import read_columns
from audit.sources.columns import Choices
from audit.sources.files import Chunk, Source, SourceFile
from audit.sources.formats import Record
from audit.sources.formats.flat import is_answer, is_count, is_flag, is_name, is_text, is_whole
from audit.sources.missing import is_answerable, missing_columns
from audit.sources.opening import open_source
from audit.sources.paths import EACH
from audit.sources.stand_ins import listed

RECORDS_LOOKED_AT = 16


def is_number(value: Any) -> bool:
    """Whether a value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


# A name that hints at a column, and what its values must be. Of texts only long ones are attempts.
HINTS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "archive": (r"model|llm|engine|system|config", is_text),
    "competition": (r"bench|dataset|task|split|source|subject|competition", is_text),
    "question_id": (r"^(id|idx|index|key|uid)$|_id$|_idx$|problem|question|prompt|name", is_name),
    "seed": (r"seed|sample|attempt|run|rollout|trial|repeat|idx|index|epoch", is_whole),
    "prompt_tokens": (r"(prompt|input).*(tok|len)", is_count),
    "completion_tokens": (r"tok|len", is_count),
    "finish_reason": (r"finish|stop|reason|status", is_text),
    "text": (r"resp|out|gen|compl|text|solution|trace|cot|content|^y$|reply|said", is_text),
    "archive_answer": (r"pred|answer|extract|pars|final|ans", is_answer),
    "correct": (r"correct|score|label|acc|right|pass|reward|judg|ok|^r$|match", is_flag),
    "mean_logprob": (r"log_?prob", is_number),
    "references": (r"gold|target|truth|^gt$|ref|answer|expected|solution", is_answer),
}
IDS = r"(^|\.)(id|idx|index|key|uid)$|_id$|_idx$"
NUMBERED = re.compile(r"(?:.*\D)?(\d+)(\.[A-Za-z][\w.]*)")
# Where a text says its answer without a box.
PATTERNS = (r"ANSWER:\s*(.+)", r"####\s*(.+)")


def values_by_path(sample: Sequence[Record]) -> dict[str, list[Any]]:
    """The values of the first records by path; the items of a list go by `*`."""
    found: dict[str, list[Any]] = {}
    for record in sample[:RECORDS_LOOKED_AT]:
        for path, value in _values(record, ""):
            found.setdefault(path, []).append(value)
    return found


def _values(value: Any, path: str, is_listed: bool = False) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(inner, f"{path}.{key}" if path else key, is_listed)
    elif isinstance(value, list) and not is_listed:
        for item in value:
            yield from _values(item, f"{path}.{EACH}", True)
    else:
        yield path, value


def unused_columns(source: Source, values: Mapping[str, Any]) -> list[str]:
    """The columns that nothing is taken from."""
    origins = [origin.partition("~")[0] for origin in source.mapping.values()]
    return [
        path
        for path in values
        if not any(
            o == path or o.startswith(path + ".") or path.startswith(o + ".") for o in origins
        )
    ]


def candidates(column: str, values: Mapping[str, list[Any]], each: str | None) -> list[str]:
    """The paths that could be a column; where attempts are in lists, those of the right length."""
    if column not in HINTS:
        return []
    name, fits = HINTS[column]
    found = []
    for path, held in values.items():
        present = [value for value in held if value is not None]
        if not present or not all(map(fits, present)):
            continue
        is_listed = EACH in path.split(".")
        if column in ("question_id", "archive", "competition", "references") and is_listed:
            continue
        if each is not None and not is_listed and column in ("seed", *_PER_ATTEMPT):
            continue
        last = path.removesuffix(f".{EACH}").rsplit(".", 1)[-1].lower()
        if re.search(name, last) or re.search(name, last.removesuffix("s")):
            found.append(path)
    if not found and column in ("correct", "text"):
        found = _by_values(column, values, each)
    return found


_PER_ATTEMPT = ("completion_tokens", "finish_reason", "text", "archive_answer", "correct")


def _by_values(column: str, values: Mapping[str, list[Any]], each: str | None) -> list[str]:
    """Labels that are true or false, and the longest texts, whatever they are called."""
    if column == "correct":
        return [p for p, held in values.items() if held and all(isinstance(v, bool) for v in held)]
    lengths = {
        path: sum(map(len, held)) / len(held)
        for path, held in values.items()
        if held and all(isinstance(value, str) for value in held)
    }
    lists = {path: size for path, size in lengths.items() if EACH in path.split(".")}
    lengths = lists or lengths
    longest = max(lengths, key=lambda path: lengths[path], default=None)
    return [longest] if longest is not None and lengths[longest] >= 12 else []


def propose(
    source: Source, sample: Sequence[Record], choices: Choices, files: Sequence[SourceFile]
) -> Choices | None:
    """Choices under which the file loads, if what it holds makes them plain; they are tried."""
    values = values_by_path(sample)
    mapping = dict(choices.mapping)
    missing = missing_columns(source, choices)
    each = _each(source, mapping)
    if "text" in missing and (found := candidates("text", values, each)):
        mapping["text"] = _longest(found, values)
        each = each or (mapping["text"] if EACH in mapping["text"] else None)
    beside = _as_long(values, each)
    wanted = [name for name in (*missing, "correct") if name not in source.mapping]
    for column in dict.fromkeys(wanted):
        if column in mapping or column in ("archive", "competition", "text"):
            continue
        if place := _place(column, files, each, mapping, source):
            mapping[column] = place
        elif path := _only(column, candidates(column, beside, each)):
            mapping[column] = path
        elif column == "question_id" and each is not None:
            mapping[column] = "@row"
    named = _named(files)
    stands = replace(
        choices,
        mapping=mapping,
        archive=choices.archive or (named if "archive" in missing else None),
        competition=choices.competition or (named if "competition" in missing else None),
    )
    if "finish_reason" in missing and "finish_reason" not in mapping:
        stands = replace(stands, finish_reason="stop")
    if "completion_tokens" in missing and "completion_tokens" not in mapping:
        stands = replace(stands, count_tokens=choices.count_tokens or "o200k_base")
    return stands if _loads(files[0], source, stands) else None


def _only(column: str, paths: Sequence[str]) -> str | None:
    """The one path; an id goes before what else names a problem."""
    ids = [path for path in paths if re.search(IDS, path)] if column == "question_id" else []
    paths = ids or paths
    return paths[0] if len(paths) == 1 else None


def _each(source: Source, mapping: Mapping[str, str]) -> str | None:
    """The list of attempts, if the file's layout has one."""
    paths = (*mapping.values(), *source.mapping.values())
    return next((path for path in paths if EACH in path.split(".")), None)


def _as_long(values: Mapping[str, list[Any]], each: str | None) -> Mapping[str, list[Any]]:
    """Lists that have an item for each attempt; the others say something else."""
    if each is None or each not in values:
        return values
    size = len(values[each])
    return {p: v for p, v in values.items() if EACH not in p.split(".") or len(v) == size}


def _longest(paths: Sequence[str], values: Mapping[str, list[Any]]) -> str:
    return max(paths, key=lambda path: sum(len(value or "") for value in values[path]))


def _place(
    column: str,
    files: Sequence[SourceFile],
    each: str | None,
    mapping: Mapping[str, str],
    source: Source,
) -> str | None:
    """A column from where a record stands, where that is plain."""
    if column == "question_id" and len(files) > 1:
        matches = [NUMBERED.fullmatch(file.path.name) for file in files]
        ends = {match[2] for match in matches if match}
        if all(matches) and len(ends) == 1 and len({m[1] for m in matches if m}) == len(files):
            return rf"@path~(\d+){re.escape(ends.pop())}"
    if column == "seed" and each is None:
        problem = mapping.get("question_id", source.mapping.get("question_id", ""))
        return "@row" if problem and problem != "@row" else None
    return None


def _named(files: Sequence[SourceFile]) -> str:
    """A name for what has none: the file's own, or the folder's where there are several."""
    path = files[0].path.resolve()
    return path.parent.name if len(files) > 1 else path.name.split(".")[0]


def _loads(file: SourceFile, source: Source, choices: Choices) -> bool:
    """Whether the first rows of a file can be read under these choices."""
    name = None if source.format in ("parquet", "jsonl", "json", "csv") else source.format
    try:
        tried = open_source(file, name, choices)
        if missing_columns(tried, choices) or not is_answerable(tried.mapping, choices):
            return False
        chunk = next(tried.chunks)
        read_columns(tried, _few(tried, chunk))
    except (AuditError, StopIteration):
        return False
    return True


def _few(source: Source, chunk: Chunk) -> Chunk:
    values = {name: listed(chunk, name)[:RECORDS_LOOKED_AT] for name in chunk.values}
    return Chunk(values, chunk.rows[:RECORDS_LOOKED_AT], 0)


def answer_options(texts: Sequence[str], archive_answers: int) -> list[str]:
    """What else could be the answer where no text has a box."""
    options = ["--answer archive"] if archive_answers else []
    for pattern in PATTERNS:
        matched = sum(re.search(pattern, text) is not None for text in texts)
        if matched and 2 * matched >= len(texts):
            options.append(f"--answer 'regex:{pattern}'")
    return options
