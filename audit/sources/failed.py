"""Attempts that failed: no text, no answer and no tokens. The user says what becomes of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from audit.errors import AuditError
from audit.options import Reading
from audit.sources.canonical import ANSWERING
from audit.sources.files import Chunk, Source
from audit.sources.stand_ins import column_values

UNFINISHED = "error"
# What a note says of failed attempts, by option.
TREATMENTS = {"drop": "left out", "count": "counted as unfinished at cost 1"}


def settle_failed(source: Source, reading: Reading) -> Source:
    """Leave failed attempts out, keep them at cost 1, or refuse the file with their count."""
    if "completion_tokens" not in source.mapping:
        return source
    mapping = dict(source.mapping)
    return replace(source, mapping=mapping, chunks=_settled(source, reading.failed, mapping))


def _settled(source: Source, failed: str | None, mapping: dict[str, str]) -> Iterator[Chunk]:
    count = others = 0
    for chunk in source.chunks:
        is_failed = _is_failed(chunk)
        failures = sum(is_failed)
        if failures and failed is None:
            raise _refusal(source, chunk, is_failed)
        count, others = count + failures, others + len(chunk.rows) - failures
        if not failures:
            yield chunk
        elif failed == "count":
            yield _counted(chunk, is_failed)
        elif failures < len(chunk.rows):
            yield _without(chunk, is_failed)
    if count:
        mapping["failed"] = f"{count:,} {TREATMENTS[failed or '']}"
        source.notes[f"attempts failed (no text, no tokens): {TREATMENTS[failed or '']}"] += count
    if count and not others and failed == "drop":
        what = f"all of its {count:,} attempts failed (no text, no tokens); leave it out"
        raise source.file.error(what)


def _is_failed(chunk: Chunk) -> Sequence[bool]:
    """Which rows have no cost, no steps, and nothing that could be an answer."""
    costs = chunk.values.get("completion_tokens")
    # Most files have no such row: then nothing of them is looked at.
    if (
        isinstance(costs, pa.Array)
        and pa.types.is_integer(costs.type)
        and not costs.null_count
        and pc.min(costs).as_py() != 0
    ):
        return [False] * len(chunk.rows)
    is_failed = [cost in (None, 0, "0", "") for cost in column_values(chunk, "completion_tokens")]
    if any(is_failed):
        for name in (*ANSWERING, "steps"):
            values = column_values(chunk, name)
            is_failed = [
                empty and _is_nothing(v) for empty, v in zip(is_failed, values, strict=True)
            ]
    return is_failed


def _is_nothing(value: Any) -> bool:
    return value in (None, [], "[]") or (isinstance(value, str) and not value.strip())


def _refusal(source: Source, chunk: Chunk, is_failed: Sequence[bool]) -> AuditError:
    """What is said of a file with failed attempts; the rest of it is read to count them."""
    first = chunk.rows[list(is_failed).index(True)]
    count = sum(is_failed) + sum(sum(_is_failed(later)) for later in source.chunks)
    return source.file.error(
        f"row {first}, column completion_tokens: attempts without text and tokens, {count:,} in "
        "this file; pass --failed drop to leave them out, or --failed count to keep them as "
        "unfinished attempts at cost 1"
    )


def _counted(chunk: Chunk, is_failed: Sequence[bool]) -> Chunk:
    """The chunk with failed attempts at the smallest cost, none of them finished."""
    costs = column_values(chunk, "completion_tokens")
    reasons = column_values(chunk, "finish_reason")
    values = {
        "completion_tokens": [1 if fails else v for fails, v in zip(is_failed, costs, strict=True)],
        "finish_reason": [
            UNFINISHED if fails and reason in (None, "", "stop") else reason
            for fails, reason in zip(is_failed, reasons, strict=True)
        ],
    }
    return replace(chunk, values={**chunk.values, **values})


def _without(chunk: Chunk, is_failed: Sequence[bool]) -> Chunk:
    """The chunk without its failed attempts."""
    places = [place for place, fails in enumerate(is_failed) if not fails]
    values = {
        name: column.take(pa.array(places))
        if isinstance(column, pa.Array)
        else [column[place] for place in places]
        for name, column in chunk.values.items()
    }
    return Chunk(values, [chunk.rows[place] for place in places], chunk.done)
