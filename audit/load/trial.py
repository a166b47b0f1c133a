"""Try a load with the beginnings of files, in memory."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import duckdb

from audit.engine import render
from audit.errors import AuditError
from audit.load.load import load
from audit.options import Reading
from audit.sources.opening import limit_files
from audit.sources.selects import is_selected


@dataclass
class Trial:
    """The result of a trial load: what it holds, or why it is refused."""

    refusal: str | None = None
    mapping: dict[str, str] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)
    record: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    texts: list[str] = field(default_factory=list)
    # The separator of names and numbers in problem ids, and whether these number the attempts.
    split: dict[str, Any] = field(default_factory=dict)
    # Finish reasons, each with its number of attempts.
    reasons: list[dict[str, Any]] = field(default_factory=list)
    # Checks that do not pass; a load would print the failed ones.
    warned: list[dict[str, Any]] = field(default_factory=list)
    # Two answers of a problem, or an answer and its reference, that are the same number.
    alike: dict[str, str] | None = None
    # Whether the files were read to their ends.
    is_whole: bool = True


def try_load(sources: Sequence[Any], reading: Reading) -> Trial:
    """Load the beginnings of files, or a whole select, into memory with all checks of a load."""
    files = sources if is_selected(sources, reading) else limit_files(sources)
    try:
        with duckdb.connect() as con:
            con.execute("set threads = 2")
            loaded = load(con, files, reading=replace(reading, skip_unreadable=False))
            facts = con.sql(render("trial")).to_arrow_table().to_pylist()[0]
            return Trial(
                mapping=json.loads(facts.pop("mapping")),
                notes=loaded.notes,
                is_whole=all(getattr(file, "is_whole", True) for file in files),
                **facts,
            )
    except AuditError as error:
        return Trial(refusal=str(error))
