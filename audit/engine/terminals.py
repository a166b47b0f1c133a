"""Terminals: the answer that an attempt cut by `strict` may still give, taken from checkpoints."""

from collections.abc import Sequence
from dataclasses import replace

import duckdb

from audit.database.schema import has_answers
from audit.errors import AuditError
from audit.options import Settings
from audit.text import not_there, visible

# Each terminal with the kind of checkpoint that it needs.
TERMINALS = {
    "none": "",
    "standing": "written",
    "forced": "asked",
    "forced_if_empty": "asked",
    "forced_after": "asked",
}


def sort_terminals(asked: Sequence[str]) -> tuple[str, ...]:
    """Sort terminals as in TERMINALS, with `none` always first; refuse unknown names."""
    for name in asked:
        if name != "all" and name not in TERMINALS:
            raise AuditError(f"--terminals: {not_there('terminal', name, ['all', *TERMINALS])}")
    if "all" in asked:
        return ("all",)
    return tuple(name for name in TERMINALS if name == "none" or name in asked)


def settle_terminals(con: duckdb.DuckDBPyConnection, settings: Settings) -> Settings:
    """Replace "all" by the terminals that the records allow; refuse a named one they do not."""
    if settings.terminals == ("none",):
        return settings
    named = ", ".join(name for name in settings.terminals if name != "none")
    option = f"--terminals {named}"
    how = "load some with --checkpoints FILE, or pass --terminals none"
    if settings.unit != "completion":
        raise AuditError(
            f"{option}: needs budgets in completion tokens, and this replay counts "
            f"{settings.unit}; pass --unit completion, or --terminals none"
        )
    if not has_answers(con):
        raise AuditError(
            f"{option}: needs answers, and the attempts were loaded with --answer none"
        )
    archive_with = "select min(archive) from {} semi join replayed_problems using ({})"
    keys = "archive, competition, question_id"
    ((stepped,),) = con.execute(archive_with.format("steps", keys)).fetchall()
    if stepped is not None:
        raise AuditError(
            f"{option}: needs attempts without recorded steps, and archive {visible(stepped)} has "
            "some; leave it out with --archive, or pass --terminals none"
        )
    rows = con.execute(
        f"select distinct kind from checkpoints semi join replayed_problems using ({keys})"
    ).fetchall()
    kinds = {"", *(kind for (kind,) in rows)}
    possible = tuple(name for name, kind in TERMINALS.items() if kind in kinds)
    if settings.terminals != ("all",):
        for name in settings.terminals:
            if name not in possible:
                raise AuditError(
                    f"--terminals {name}: no attempt of the replay has a checkpoint that is "
                    f"{TERMINALS[name]}; {how}"
                )
        return settings
    if possible == ("none",):
        raise AuditError(f"{option}: no attempt of the replay has a checkpoint; {how}")
    return replace(settings, terminals=possible)
