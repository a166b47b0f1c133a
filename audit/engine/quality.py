"""Whether records fit what is computed from them: counts kept with them, judged by thresholds."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import duckdb

from audit.engine.build import render
from audit.engine.sql_files import resource
from audit.text import quoted, visible

ARCHIVES_SHOWN = 3
# Checks that are not told where another one tells of the same archive and level, for one cause; a
# check without another is told by `data_quality` alone. What fails is always told.
SAME_CAUSE = {
    "answered": "right_not_eligible",
    "answers_missed": "right_not_eligible",
    "unknown_finish_reasons": "finished",
    "duplicate_records": "duplicate_texts",
    "ended_by_bank": "never_binds",
    "banks_below_cap": "",
    "cut_by_live_budget": "",
}
TELLING = "scores_tell_labels"
# Tables of attempts that checks of records read.
FILTERED = ("attempts", "texts", "steps", "recorded_scores", "labels")


def _checks(folder: str) -> list[str]:
    """Return the checks of a folder; adding one is adding a file, and a line of thresholds."""
    return sorted(path.stem for path in (resource("sql") / "quality" / folder).glob("*.sql"))


def count_records(con: duckdb.DuckDBPyConnection, archives: Iterable[str] | None = None) -> None:
    """Run the checks of the loaded records; those of texts, which are slow, for `archives` only."""
    loaded = None if archives is None else sorted(archives)
    # Texts are read once for all checks; a load has measured those that came in.
    con.execute(f"create temp table if not exists text_measures as {render('text_measures')}")
    checks = {name: render(name) for name in _checks("records")}
    # A count of texts is slow, and depends on its own archive alone.
    whole = [name for name in checks if loaded is None or "text_measures" not in checks[name]]
    con.execute(
        'delete from quality_counts where is_of_replay is not true and ("check" in $whole '
        'or ("check" in $checks and list_contains($archives, archive)))',
        {"whole": whole, "checks": list(checks), "archives": loaded or []},
    )
    # One by one: side by side they would take the memory of all of them.
    for name, sql in checks.items():
        chosen = "true" if name in whole else "list_contains($archives, archive)"
        con.execute(
            f"insert into quality_counts select archive, '{name}', null, count, total, false "
            f"from ({sql}) where {chosen}",
            {} if name in whole else {"archives": loaded},
        )
    con.execute("drop table temp.text_measures")


def count_replays(con: duckdb.DuckDBPyConnection) -> None:
    """Count what the checks of the replays find, at each of their levels."""
    forget_replays(con)
    for name in _checks("replays"):
        con.execute(
            f"insert into quality_counts select archive, '{name}', level, count, total, true "
            f"from ({render(name)})"
        )
    con.execute(f"insert into unreplayed_problems {render('unreplayed')}")
    if con.execute("select 1 from unreplayed_problems limit 1").fetchall():
        _count_replayed_records(con)


def _count_replayed_records(con: duckdb.DuckDBPyConnection) -> None:
    """Run the checks of records once more, on those that the filters of a replay leave.

    Temporary views of the same names, which go before tables, hide all other records.
    """
    ((database,),) = con.execute("select current_database()").fetchall()
    place = f"{quoted(database)}.main"
    hidden = {
        name: f"from {place}.{name} anti join {place}.unreplayed_problems "
        "using (archive, competition, question_id)"
        for name in (*FILTERED, "accepted_references")
    }
    hidden["sources"] = f"from {place}.sources where archive in (select archive from attempts)"
    hidden["text_measures"] = render("text_measures")
    hidden |= {name: render(name) for name in ("scores", "grades")}
    for name, sql in hidden.items():
        con.execute(f"create temp view {name} as {sql}")
    for name in _checks("records"):
        con.execute(
            f"insert into quality_counts select archive, '{name}', null, count, total, true "
            f"from ({render(name)})"
        )
    for name in reversed(hidden):
        con.execute(f"drop view temp.{name}")
    con.execute(
        "insert into quality_counts select * replace (true as is_of_replay) from quality_counts "
        "where \"check\" = 'problems_dropped' and archive in (select archive from archives)"
    )


def forget_replays(con: duckdb.DuckDBPyConnection) -> None:
    """Delete the counts of replays, and what their filters left out."""
    con.execute("delete from quality_counts where is_of_replay; delete from unreplayed_problems")


def quality_notes(
    con: duckdb.DuckDBPyConnection,
    archives: Iterable[str] | None = None,
    *,
    moment: Literal["load", "replay", "table"] = "load",
    budgets: Iterable[float] | None = None,
) -> list[str]:
    """Return a line for each cause why some archive does not pass, the failed ones first.

    A load tells of its records, a replay and its tables of what the replay adds; what fails is told
    everywhere. Of tables, only these budgets count.
    """
    found = find(con, archives, moment=moment, budgets=budgets)
    return lines(found, _coverage(con) if moment != "load" else "")


def find(
    con: duckdb.DuckDBPyConnection,
    archives: Iterable[str] | None = None,
    *,
    moment: Literal["load", "replay", "table", "report"],
    budgets: Iterable[float] | None = None,
) -> list["Finding"]:
    """Return what is told at a moment, each cause once; a report tells of records and replays."""
    chosen = None if archives is None else set(archives)
    levels = None if budgets is None else set(budgets)
    found = [
        finding
        for finding in (Finding(*row) for row in con.execute(render("judged")).fetchall())
        if finding.severity != "ok"
        and (chosen is None or finding.archive in chosen)
        and (levels is None or finding.level is None or finding.level in levels)
    ]
    found = _name_scores(con, found)
    flagged = {(finding.check, finding.archive, finding.level) for finding in found}
    later = set(_checks("replays"))
    told = []
    for finding in found:
        cause = SAME_CAUSE.get(finding.check)
        is_repeated = (cause, finding.archive, finding.level) in flagged or cause == ""
        is_due = moment == "report" or (finding.check in later) == (moment != "load")
        if finding.severity == "fail" or (is_due and not is_repeated):
            told.append(finding)
    return told


def lines(found: Iterable["Finding"], covered: str = "") -> list[str]:
    """Return a line for each check that is not passed, the failed ones first."""
    by_check: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in found:
        key = (finding.severity, finding.check, finding.advice)
        by_check.setdefault(key, []).append(finding)
    return [
        f"{severity}: {check}: {_join_archives(findings)}{covered}: {advice}"
        for (severity, check, advice), findings in sorted(by_check.items())
    ]


class Finding(NamedTuple):
    """What a check finds in an archive, at one level where it has levels."""

    archive: str
    check: str
    level: float | None
    found: int
    total: int
    share: float
    severity: str
    advice: str


def _name_scores(con: duckdb.DuckDBPyConnection, found: list[Finding]) -> list[Finding]:
    """Name in the advice of `scores_tell_labels` the score that tells the labels."""
    if not any(finding.check == TELLING for finding in found):
        return found
    ((database,),) = con.execute("select current_database()").fetchall()
    con.execute(
        f"create or replace temp view labels as from {quoted(database)}.main.labels "
        "anti join unreplayed_problems using (archive, competition, question_id)"
    )
    try:
        rows = con.execute(f"select archive, score from ({render(TELLING)})").fetchall()
    finally:
        con.execute("drop view temp.labels")
    names = {archive: f"the score '{visible(score)}'" for archive, score in rows}
    return [
        finding._replace(advice=finding.advice.replace("a score", names[finding.archive], 1))
        if finding.check == TELLING and finding.archive in names
        else finding
        for finding in found
    ]


def _coverage(con: duckdb.DuckDBPyConnection) -> str:
    """Return what the counts cover where the filters of a replay left problems out."""
    left_out, total = con.execute(
        "select (select count(*) from unreplayed_problems), (select count(*) from ("
        "select distinct archive, competition, question_id from attempts))"
    ).fetchall()[0]
    return f" (in the {total - left_out:,} of {total:,} problems replayed)" if left_out else ""


def _join_archives(findings: Sequence[Finding]) -> str:
    """Return the first few archives with their largest counts and the levels that have any."""
    by_archive: dict[str, list[Finding]] = {}
    for finding in findings:
        by_archive.setdefault(finding.archive, []).append(finding)
    shown = []
    for archive, rows in list(by_archive.items())[:ARCHIVES_SHOWN]:
        worst = max(rows, key=lambda row: row.found / row.total)
        levels = ", ".join(
            f"{level:,.12g}" for level in sorted(row.level for row in rows if row.level is not None)
        )
        at = f" at {levels}" if levels else ""
        shown.append(f"'{visible(archive)}' {worst.found:,} of {worst.total:,}{at}")
    more = len(by_archive) - ARCHIVES_SHOWN
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def count_dropped(con: duckdb.DuckDBPyConnection, problems: Iterable[tuple[str, int, int]]) -> None:
    """Keep how many problems a load has left out of an archive, and of how many."""
    for archive, count, total in problems:
        con.execute(
            "insert into quality_counts values (?, 'problems_dropped', null, ?, ?, false)",
            [archive, count, total],
        )
