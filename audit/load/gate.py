"""Checks of a loaded archive: refuse one without labels, finished attempts or answers."""

import shlex

import duckdb

from audit.engine import render
from audit.errors import AuditError
from audit.load.schema import temporary_tables
from audit.sources.files import excerpt
from audit.text import first_names

NAMES_SHOWN = 5


def settle_labels(
    con: duckdb.DuckDBPyConnection, unlabelled: str | None
) -> list[tuple[str, int, int]]:
    """Refuse archives that lack some labels, or apply --unlabelled to them.

    Return for each archive the number of problems left out, and of all its problems.
    """
    partly = con.execute(render("partly_labelled")).fetchall()
    if partly and unlabelled is None:
        archive, attempts, missing, *_ = partly[0]
        others = f" (so do {len(partly) - 1:,} more archives)" if len(partly) > 1 else ""
        raise AuditError(
            f"archive {excerpt(archive)}: {missing:,} of its {attempts:,} attempts have no label"
            f"{others}; pass --unlabelled wrong to count those as incorrect, or --unlabelled drop "
            "to leave out their problems"
        )
    archives = [archive for archive, *_ in partly]
    if unlabelled == "wrong":
        update = "update incoming set correct = false where correct is null"
        con.execute(f"{update} and list_contains(?, archive)", [archives])
    if unlabelled != "drop":
        return []
    for archive, _, _, incomplete, problems in partly:
        if incomplete == problems:
            raise AuditError(
                f"--unlabelled drop: each of the {problems:,} problems of archive "
                f"{excerpt(archive)} has an attempt without a label, so nothing is left; pass "
                "--unlabelled wrong"
            )
    with temporary_tables(con, "unlabelled_problems"):
        for table in ("incoming", "texts", "text_measures") if partly else ():
            con.execute(
                f"delete from {table} where (archive, competition, question_id) in "
                "(select (archive, competition, question_id) from unlabelled_problems)"
            )
    return [(archive, incomplete, problems) for archive, _, _, incomplete, problems in partly]


def require_answers(con: duckdb.DuckDBPyConnection, archives: set[str], answer: str) -> None:
    """Refuse an archive with no finished attempt, or with no answer in any finished attempt."""
    rows = con.execute(render("unfit_archives")).fetchall()
    for archive, attempts, finished, recorded, boxes in rows:
        if archive in archives and not finished:
            raise AuditError(
                f"archive {excerpt(archive)}: none of its {attempts:,} attempts counts as "
                f"finished: {_list_reasons(con, archive)}, or --force to load it as it is"
            )
        if archive in archives:
            kinds = _list_kinds(answer, {"archive": recorded, "boxed": boxes})
            raise AuditError(
                f"archive {excerpt(archive)}: none of its {finished:,} finished attempts has an "
                f"answer: {kinds}, or --force to continue without"
            )


def _list_reasons(con: duckdb.DuckDBPyConnection, archive: str) -> str:
    """List the finish reasons of an archive for a message, with the --finished option to pass."""
    query = f"from ({render('archive_finish_reasons')}) where archive = ?"
    rows = con.execute(query, [archive]).fetchall()
    reasons = first_names(
        [f"{excerpt(reason)} ({count:,})" for _, reason, count, _ in rows], NAMES_SHOWN
    )
    candidates = [reason for _, reason, _, is_unfinished in rows if not is_unfinished]
    names = shlex.quote(",".join(candidates[:NAMES_SHOWN]) or "REASON")
    return f"finish_reason is {reasons}; pass --finished {names} to count that as finished"


def _list_kinds(answer: str, counts: dict[str, int | None]) -> str:
    """List how many answers each --answer kind would find, with the option that finds most."""
    known = {kind: count for kind, count in counts.items() if count is not None} | {answer: 0}
    gives = ", ".join(f"--answer {kind} gives {known[kind]:,}" for kind in sorted(known))
    best = max(known, key=lambda kind: known[kind])
    if known[best]:
        return f"{gives}; pass --answer {best}"
    return (
        f"{gives}; pass --answer 'regex:PATTERN', --answer none where attempts pass or fail and "
        "nothing is voted on"
    )
