"""Whether records fit what is computed from them: counts kept with them, judged by thresholds."""

from collections.abc import Iterable

import duckdb

from audit.database.schema import relations
from audit.engine.build import render
from audit.engine.sql_files import resource
from audit.text import one_line

ARCHIVES_SHOWN = 3


def _checks(folder: str) -> list[str]:
    """The checks of a folder; adding one is adding a file, and a line of thresholds."""
    return sorted(path.stem for path in (resource("sql") / "quality" / folder).glob("*.sql"))


def count_records(
    con: duckdb.DuckDBPyConnection,
    archives: Iterable[str] | None = None,
    measured: str | None = None,
) -> None:
    """Run the checks of the loaded records; those of texts, which are slow, for `archives` only.

    `measured` names the rows of a load, with measures of their texts; without it the texts of the
    database are read.
    """
    loaded = None if archives is None else sorted(archives)
    measures = f"select *, carried.* from {measured}" if measured else render("text_measures")
    con.execute(f"create temp view text_measures as {measures}")
    checks = {name: render(name) for name in _checks("records")}
    # A count of texts is slow, and depends on its own archive alone.
    whole = [name for name in checks if loaded is None or "text_measures" not in checks[name]]
    con.execute(
        'delete from quality_counts where "check" in $whole '
        'or ("check" in $checks and list_contains($archives, archive))',
        {"whole": whole, "checks": list(checks), "archives": loaded or []},
    )
    # One by one: side by side they would take the memory of all of them.
    for name, sql in checks.items():
        chosen = "true" if name in whole else "list_contains($archives, archive)"
        con.execute(
            f"insert into quality_counts select archive, '{name}', null, count, total from ({sql}) "
            f"where {chosen}",
            {} if name in whole else {"archives": loaded},
        )
    con.execute("drop view temp.text_measures")


def count_replays(con: duckdb.DuckDBPyConnection) -> None:
    """Count what the checks of the replays find, at each of their levels."""
    forget_replays(con)
    for name in _checks("replays"):
        con.execute(
            f"insert into quality_counts select archive, '{name}', level, count, total "
            f"from ({render(name)})"
        )


def forget_replays(con: duckdb.DuckDBPyConnection) -> None:
    """Take away the counts of replays."""
    con.execute('delete from quality_counts where "check" in ?', [_checks("replays")])


def quality_notes(
    con: duckdb.DuckDBPyConnection, archives: Iterable[str] | None = None
) -> list[str]:
    """A line for each check that some archive does not pass, the failed ones first.

    Only the primary cap is reported: the numbers beside these lines are at that cap.
    """
    chosen = None if archives is None else set(archives)
    primary = ""
    if "settings" in relations(con):
        cap = con.execute("select value from settings where key = 'primary_cap'").fetchone()
        primary = f"banks_below_cap_{cap[0]}" if cap else ""
    by_check: dict[tuple[str, str, str], list[tuple]] = {}
    for archive, check, count, total, share, severity, advice in con.execute(
        render("data_quality")
    ).fetchall():
        if check.startswith("banks_below_cap") and check != primary:
            continue
        if severity != "ok" and (chosen is None or archive in chosen):
            by_check.setdefault((severity, check, advice), []).append(
                (share, archive, count, total)
            )
    return [
        f"{severity}: {check}: {_join_archives(rows)}: {advice}"
        for (severity, check, advice), rows in sorted(by_check.items())
    ]


def _join_archives(rows: list[tuple]) -> str:
    """The first few archives with their counts."""
    archives = [
        f"'{one_line(archive)}' {count:,} of {total:,}"
        for _, archive, count, total in rows[:ARCHIVES_SHOWN]
    ]
    more = f" and {len(rows) - ARCHIVES_SHOWN:,} more" if len(rows) > ARCHIVES_SHOWN else ""
    return ", ".join(archives) + more


def count_dropped(con: duckdb.DuckDBPyConnection, problems: Iterable[tuple[str, int, int]]) -> None:
    """Keep how many problems a load has left out of an archive, and of how many."""
    for archive, count, total in problems:
        con.execute(
            "insert into quality_counts values (?, 'problems_dropped', null, ?, ?)",
            [archive, count, total],
        )
