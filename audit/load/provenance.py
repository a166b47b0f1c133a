"""What was not simply recorded: counted tokens, answers that are no boxes, labels graded here."""

import json
import re
from collections.abc import Callable

import duckdb
import pyarrow as pa

from audit.database import relations
from audit.errors import AuditError
from audit.sources import shown
from audit.sources.canonical import extract_answers

COUNTED = "counted with "
GRADED = "references"


def answer_pattern(answer: str) -> re.Pattern[str] | None:
    """The pattern of `regex:PATTERN`; None for `boxed` and `archive`."""
    kind, colon, written = answer.partition(":")
    if answer in ("boxed", "archive"):
        return None
    if kind != "regex" or not colon:
        raise AuditError(f"--answer {answer}: must be boxed, archive or regex:PATTERN")
    try:
        pattern = re.compile(written)
    except re.error as error:
        raise AuditError(f"--answer {answer}: not a regular expression: {error}") from None
    if pattern.groups < 1:
        raise AuditError(f"--answer {answer}: put the answer in parentheses, as in 'is (.+)'")
    return pattern


def raw_answers(
    answer: str, texts: pa.Array, boxed: pa.Array, extracted: Callable[[], list[str | None]]
) -> pa.Array:
    """The answers as they are written: in the last box, by the last match, or by the archive."""
    if answer == "boxed":
        return extract_answers(texts, boxed)
    if answer == "archive":
        return pa.array(extracted(), pa.string())
    pattern = answer_pattern(answer)
    assert pattern is not None
    found = (None if text is None else _last(pattern, text) for text in texts.to_pylist())
    return pa.array(found, pa.string())


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    found = None
    for match in pattern.finditer(text):
        found = match[1]
    return found


def remember(con: duckdb.DuckDBPyConnection, answer: str) -> None:
    """Keep in `meta` how answers were read, and whose tokens and labels were not recorded."""
    kept = _meta(con, "answer") or "boxed"
    others = con.execute(
        "select min(archive) from attempts anti join incoming using (archive)"
    ).fetchall()
    if kept != answer and others[0][0] is not None:
        raise AuditError(
            f"--answer {answer}: the answers of archive {shown(others[0][0])} were read by "
            f"--answer {kept}, and a database has one kind; load into another --db"
        )
    _keep(con, "answer", None if answer == "boxed" else answer)
    _keep(con, "tokens", _of_sources(con, "completion_tokens", COUNTED))
    _keep(con, "grade", _of_sources(con, "correct", GRADED))


def _of_sources(con: duckdb.DuckDBPyConnection, column: str, begins: str) -> str | None:
    """Where a column is not from the log: in what way, and in which archives if not in all."""
    rows = con.execute(
        f"""
        select json_extract_string(mapping, '$.{column}') as origin, list(distinct archive)
        from sources
        where starts_with(origin, ?) and mapping is not null
        group by origin
        order by origin
        """,
        [begins],
    ).fetchall()
    everyone = {archive for (archive,) in con.execute("select archive from sources").fetchall()}
    whole = len(rows) == 1 and set(rows[0][1]) == everyone
    return (
        "; ".join(
            origin if whole else f"{origin} ({', '.join(sorted(archives))})"
            for origin, archives in rows
        )
        or None
    )


def _keep(con: duckdb.DuckDBPyConnection, key: str, value: str | None) -> None:
    con.execute("delete from meta where key = ?", [key])
    if value is not None:
        con.execute("insert into meta values (?, ?)", [key, value])


def _meta(con: duckdb.DuckDBPyConnection, key: str) -> str | None:
    rows = con.execute("select value from meta where key = ?", [key]).fetchall()
    return rows[0][0] if rows else None


def notes(con: duckdb.DuckDBPyConnection, *, has_selectors: bool = False) -> str:
    """One line to stand under every table: how answers, costs and labels came about."""
    cost = cost_note(con) or "completion tokens recorded"
    answers = selector_note(con, has_selectors=has_selectors)
    labels = grade_note(con) or "labels: as recorded"
    parts = [simulated_note(con), replayed_note(con), answers, cost, labels]
    return "; ".join(part for part in parts if part)


def simulated_note(con: duckdb.DuckDBPyConnection) -> str | None:
    """Which archives no model made."""
    rows = con.execute(
        "select distinct archive from sources where simulated order by archive"
    ).fetchall()
    return f"SIMULATED DATA ({', '.join(archive for (archive,) in rows)})" if rows else None


def replayed_note(con: duckdb.DuckDBPyConnection) -> str | None:
    """Which archives, competitions and problems alone were replayed, where it was not all."""
    try:
        kept = dict(con.execute("select key, value from settings").fetchall())
        parts = [
            (word, json.loads(kept.get(f"{word}s", "[]")))
            for word in ("archive", "competition", "problem")
        ]
    except (duckdb.Error, ValueError):
        return None
    told = [
        f"{len(names):,} problems"
        if word == "problem"
        else f"{word}{'s' if len(names) > 1 else ''} {', '.join(names)}"
        for word, names in parts
        if names
    ]
    return f"replayed: only {'; '.join(told)}" if told else None


def cost_note(con: duckdb.DuckDBPyConnection) -> str | None:
    """How the completion tokens were counted, where they were not recorded."""
    tokens = _meta(con, "tokens")
    return None if tokens is None else f"completion tokens {tokens}"


def answer_note(con: duckdb.DuckDBPyConnection) -> str:
    """What every majority votes on."""
    answer = _meta(con, "answer") or "boxed"
    kinds = {"boxed": "the last boxed answer", "archive": "the archive's own extraction"}
    return "answers: " + kinds.get(answer, f"the last match of {answer.removeprefix('regex:')}")


def selector_note(con: duckdb.DuckDBPyConnection, *, has_selectors: bool) -> str:
    """What the selectors behind a table vote on; some vote on the archive's own extraction."""
    relation = "used_selectors" if "used_selectors" in relations(con) else "selectors"
    try:
        found = con.execute(f"select selector, is_primary, votes_on from {relation}").fetchall()
    except duckdb.Error:
        return answer_note(con)
    own = "the archive's own extraction"
    others = [name for name, _, votes_on in found if votes_on == "archive_answer"]
    if any(is_primary and name in others for name, is_primary, _ in found):
        others = sorted(others)
        return f"answers: {own} ({', '.join(others)})" + (
            f"; of other selectors: {answer_note(con).removeprefix('answers: ')}"
            if has_selectors and len(others) < len(found)
            else ""
        )
    if has_selectors and others:
        return f"{answer_note(con)} ({', '.join(sorted(others))}: {own})"
    return answer_note(con)


def grade_note(con: duckdb.DuckDBPyConnection) -> str | None:
    """How labels were made, where they are not the log's."""
    grade = _meta(con, "grade")
    return None if grade is None else f"labels: normalized answers compared with the {grade}"
