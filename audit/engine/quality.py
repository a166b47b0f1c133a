"""Check whether records suit the replay: count anomalies, and judge them by thresholds."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import duckdb

from audit.engine.build import render
from audit.engine.settings import read_last_settings
from audit.engine.sql_files import find_folder
from audit.text import quoted, visible
from audit.units import UNITS, Unit, budget_name

ARCHIVES_SHOWN = 3
# Checks that are not printed where another one finds the same cause in an archive and level; one
# without another appears in `data_quality` only. Failed checks are always printed.
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
# Tables of attempts that the checks of records read.
FILTERED = ("attempts", "texts", "steps", "recorded_scores", "labels")


def _list_checks(folder: str) -> list[str]:
    """Return the names of the checks in a folder of sql/quality, one file each."""
    return sorted(path.stem for path in (find_folder("sql") / "quality" / folder).glob("*.sql"))


def count_records(con: duckdb.DuckDBPyConnection, archives: Iterable[str] | None = None) -> None:
    """Count what the checks of records find; check texts, which is slow, for `archives` only."""
    loaded = None if archives is None else sorted(archives)
    # Texts are measured once for all checks; a load has measured the new ones already.
    con.execute(f"create temp table if not exists text_measures as {render('text_measures')}")
    checks = {name: render(name) for name in _list_checks("records")}
    # Checks of texts are slow, and depend on one archive alone.
    whole = [name for name in checks if loaded is None or "text_measures" not in checks[name]]
    con.execute(
        'delete from quality_counts where is_of_replay is not true and ("check" in $whole '
        'or ("check" in $checks and list_contains($archives, archive)))',
        {"whole": whole, "checks": list(checks), "archives": loaded or []},
    )
    # One query per check: in a single one, their memory would add up.
    for name, sql in checks.items():
        chosen = "true" if name in whole else "list_contains($archives, archive)"
        con.execute(
            f"insert into quality_counts select archive, '{name}', null, count, total, false "
            f"from ({sql}) where {chosen}",
            {} if name in whole else {"archives": loaded},
        )
    con.execute("drop table temp.text_measures")


def count_replays(con: duckdb.DuckDBPyConnection) -> None:
    """Count what the checks of replays find, at each of their levels such as budgets."""
    forget_replays(con)
    for name in _list_checks("replays"):
        con.execute(
            f"insert into quality_counts select archive, '{name}', level, count, total, true "
            f"from ({render(name)})"
        )
    con.execute(f"insert into unreplayed_problems {render('unreplayed')}")
    if con.execute("select 1 from unreplayed_problems limit 1").fetchall():
        _count_replayed_records(con)


def _count_replayed_records(con: duckdb.DuckDBPyConnection) -> None:
    """Run the checks of records again, on the problems that the filters of a replay keep.

    Temporary views hide the tables of the same names, and with them all other records.
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
    for name in _list_checks("records"):
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
    """Delete the counts of replays, and the list of problems that their filters left out."""
    con.execute("delete from quality_counts where is_of_replay; delete from unreplayed_problems")


def find_quality_notes(
    con: duckdb.DuckDBPyConnection,
    archives: Iterable[str] | None = None,
    *,
    moment: Literal["load", "replay", "table"] = "load",
    budgets: Iterable[float] | None = None,
) -> list[str]:
    """Return a line for each check that some archive does not pass, the failed ones first.

    A load prints the checks of records, a replay and its tables those of replays; failed checks
    are printed everywhere. `budgets` limits the levels.
    """
    found = find_findings(con, archives, moment=moment, budgets=budgets)
    unit = UNITS[read_last_settings(con).unit]
    return write_lines(found, unit, _describe_coverage(con) if moment != "load" else "")


def find_findings(
    con: duckdb.DuckDBPyConnection,
    archives: Iterable[str] | None = None,
    *,
    moment: Literal["load", "replay", "table", "report"],
    budgets: Iterable[float] | None = None,
) -> list["Finding"]:
    """Return the findings to print at a moment, each cause once; a report prints all kinds."""
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
    later = set(_list_checks("replays"))
    told = []
    for finding in found:
        cause = SAME_CAUSE.get(finding.check)
        is_repeated = (cause, finding.archive, finding.level) in flagged or cause == ""
        is_due = moment == "report" or (finding.check in later) == (moment != "load")
        if finding.severity == "fail" or (is_due and not is_repeated):
            told.append(finding)
    return told


def write_lines(found: Iterable["Finding"], unit: Unit, covered: str = "") -> list[str]:
    """Format findings as one line for each check, the failed ones first."""
    by_check: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in found:
        key = (finding.severity, finding.check, finding.advice)
        by_check.setdefault(key, []).append(finding)
    return [
        f"{severity}: {check}: {_join_archives(findings, unit)}{covered}: {advice}"
        for (severity, check, advice), findings in sorted(by_check.items())
    ]


class Finding(NamedTuple):
    """The result of a check for an archive, and for one level if it has levels."""

    archive: str
    check: str
    level: float | None
    found: int
    total: int
    share: float
    severity: str
    advice: str


def _name_scores(con: duckdb.DuckDBPyConnection, found: list[Finding]) -> list[Finding]:
    """Name the score that reveals labels in the advice of `scores_tell_labels`."""
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


def _describe_coverage(con: duckdb.DuckDBPyConnection) -> str:
    """Return a note on how many problems the filters of a replay left; else nothing."""
    left_out, total = con.execute(
        "select (select count(*) from unreplayed_problems), (select count(*) from ("
        "select distinct archive, competition, question_id from attempts))"
    ).fetchall()[0]
    return f" (in the {total - left_out:,} of {total:,} problems replayed)" if left_out else ""


def _join_archives(findings: Sequence[Finding], unit: Unit) -> str:
    """List the first few archives, each with its worst count and its levels."""
    by_archive: dict[str, list[Finding]] = {}
    for finding in findings:
        by_archive.setdefault(finding.archive, []).append(finding)
    shown = []
    for archive, rows in list(by_archive.items())[:ARCHIVES_SHOWN]:
        worst = max(rows, key=lambda row: row.found / row.total)
        levels = sorted(row.level for row in rows if row.level is not None)
        at = f" at {', '.join(budget_name(each, unit) for each in levels)}" if levels else ""
        shown.append(f"'{visible(archive)}' {worst.found:,} of {worst.total:,}{at}")
    more = len(by_archive) - ARCHIVES_SHOWN
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def count_dropped(con: duckdb.DuckDBPyConnection, problems: Iterable[tuple[str, int, int]]) -> None:
    """Store how many problems a load left out of each archive, and of how many."""
    for archive, count, total in problems:
        con.execute(
            "insert into quality_counts values (?, 'problems_dropped', null, ?, ?, false)",
            [archive, count, total],
        )
