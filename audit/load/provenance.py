"""Provenance notes: how answers, costs, finish reasons and labels were derived."""

from collections.abc import Iterable
from contextlib import suppress

import duckdb

from audit.answers.extract import NO_ANSWER
from audit.database.schema import read_fact, relations, store_fact
from audit.engine import render
from audit.engine.settings import has_one_run, read_last_settings
from audit.errors import AuditError
from audit.options import Settings
from audit.sources.files import excerpt
from audit.text import SIMULATED

COUNTED = "counted with "
GRADE = "grade"
ONE_RUN = "one run per problem: advisory is no cap at all"
OWN_ANSWER = "the archive's own extraction"
# Facts of a load that notes print, with their wording.
FACT_NOTES = {
    "tokens": "completion tokens {}",
    "finished": "counted as finish reason stop: {}",
    "failed": "failed attempts: {}",
    GRADE: "labels: normalized answers compared with the {}",
    "unlabelled": "{}",
}


def answer_kind(con: duckdb.DuckDBPyConnection) -> str:
    """Read the kind of answer of the database, as passed to --answer; boxed is the default."""
    return read_fact(con, "answer") or "boxed"


def has_numbers(con: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the database was loaded with --numbers (0.50 equals 0.5)."""
    return read_fact(con, "numbers") is not None


def require_one_kind(con: duckdb.DuckDBPyConnection, answer: str, *, numbers: bool = False) -> None:
    """Refuse a load whose --answer or --numbers differs from that of the other archives."""
    kind = answer_kind(con)
    ((other,),) = con.execute(
        "select min(archive) from attempts anti join incoming using (archive)"
    ).fetchall()
    if other is None:
        return
    if kind != answer:
        raise AuditError(
            f"--answer {answer}: the answers of archive {excerpt(other)} were read by "
            f"--answer {kind}, and a database has one kind; load into another --db, or change "
            f"those that are there first: budget-audit answers --answer {answer}"
        )
    if numbers != has_numbers(con):
        how = "without" if numbers else "with"
        raise AuditError(
            f"archive {excerpt(other)} was loaded {how} --numbers, and a database compares "
            f"answers in one way; load {how} --numbers here, or into another --db"
        )


def store_provenance(con: duckdb.DuckDBPyConnection, answer: str, *, numbers: bool = False) -> None:
    """Store in `meta` how answers were read, and which archives have derived tokens or labels."""
    store_fact(con, "answer", None if answer == "boxed" else answer)
    store_fact(con, "numbers", "true" if numbers else None)
    facts = dict(con.execute(render("recording_facts")).fetchall())
    for key in FACT_NOTES:
        store_fact(con, key, facts.get(key))


def notes(con: duckdb.DuckDBPyConnection, *, has_selectors: bool = False) -> str:
    """Write the line below every table: how answers, costs and labels were derived."""
    settings = _read_settings(con)
    is_one_run = "banks" in relations(con) and has_one_run(
        con, settings.archives, settings.competitions
    )
    parts = [
        simulated_note(con),
        replayed_note(con),
        selector_note(con, has_selectors=has_selectors),
        unit_note(con),
        ONE_RUN if is_one_run else None,
        note_fact(con, "finished"),
        note_fact(con, "failed"),
        note_fact(con, GRADE) or "labels: as recorded",
        note_fact(con, "unlabelled"),
    ]
    return "; ".join(part for part in parts if part)


def note_fact(con: duckdb.DuckDBPyConnection, key: str) -> str | None:
    """Describe a fact of the load, such as how labels were made; None if it was not stored."""
    value = read_fact(con, key)
    return None if value is None else FACT_NOTES[key].format(value)


def list_load_notes(con: duckdb.DuckDBPyConnection, noted: Iterable[str]) -> list[str]:
    """Format the notes of a load, with one that names simulated archives."""
    return [f"note: {note}" for note in (*noted, simulated_note(con)) if note]


def simulated_note(con: duckdb.DuckDBPyConnection) -> str | None:
    """List the simulated archives of the database, or return None."""
    ((archives,),) = con.execute(
        "select string_agg(distinct archive, ', ' order by archive) from sources where simulated"
    ).fetchall()
    return f"{SIMULATED} ({archives})" if archives else None


def _read_settings(con: duckdb.DuckDBPyConnection) -> Settings:
    """Read the settings of the last replay; without one return the defaults."""
    with suppress(AuditError, duckdb.Error):
        return read_last_settings(con)
    return Settings()


def replayed_note(con: duckdb.DuckDBPyConnection) -> str | None:
    """Describe the filters of the last replay: archives, competitions, number of problems."""
    settings = _read_settings(con)
    filters = [
        f"{word}{'s' if len(names) > 1 else ''} {', '.join(names)}"
        for word, names in (("archive", settings.archives), ("competition", settings.competitions))
        if names
    ]
    filters += [f"{len(settings.problems):,} problems"] if settings.problems else []
    return f"replayed: only {'; '.join(filters)}" if filters else None


def unit_note(con: duckdb.DuckDBPyConnection) -> str:
    """Describe what the replay's budgets count (tokens, money …) and how it was recorded."""
    tokens = note_fact(con, "tokens") or "completion tokens recorded"
    settings = _read_settings(con)
    money = "by the prices given" if settings.prices else "as it was billed"
    return {
        "total": f"budgets count prompt and completion tokens; {tokens}",
        "money": f"budgets count money {money}",
        "seconds": "budgets count seconds as recorded",
        "steps": "budgets count steps",
    }.get(settings.unit, tokens)


def answer_note(con: duckdb.DuckDBPyConnection) -> str:
    """Describe which answers majorities vote on, such as "answers: the last boxed answer"."""
    answer = answer_kind(con)
    kinds = {
        "boxed": "the last boxed answer",
        "archive": OWN_ANSWER,
        NO_ANSWER: "none, attempts pass or fail",
    }
    kind = kinds.get(answer, f"the last match of {answer.removeprefix('regex:')}")
    return f"answers: {kind}" + (", decimals as numbers" if has_numbers(con) else "")


def selector_note(con: duckdb.DuckDBPyConnection, *, has_selectors: bool) -> str:
    """Describe which answers the selectors vote on, and which of them use the archive's own."""
    note = answer_note(con)
    if "used_selectors" not in relations(con):
        return note
    others = con.execute(
        "select selector, is_primary from used_selectors where votes_on = 'archive_answer' "
        "order by selector"
    ).fetchall()
    names = ", ".join(name for name, _ in others)
    if has_selectors and others:
        return f"{note} ({names}: {OWN_ANSWER})"
    return f"answers: {OWN_ANSWER} ({names})" if any(is_one for _, is_one in others) else note
