"""Invariants of the loaded data: a SQL file each, and a replay with shuffled labels."""

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit import database, engine
from audit.engine.plugins import NAME_PATTERN
from audit.errors import AuditError
from audit.progress import Progress
from audit.sources import shown


def check(path: str | Path, progress: Progress | None = None, **limits: Any) -> pa.Table:
    """Every invariant of a database, how much was looked at, and how often it is violated."""
    with database.connect_beside(path, **limits) as con:
        database.require_replays(con)
        return _check(con, progress or (lambda what, done, total: None))


def _check(con: duckdb.DuckDBPyConnection, progress: Progress) -> pa.Table:
    found = []
    files = sorted((engine.resource("sql") / "checks").glob("*.sql"))
    for done, path in enumerate(files):
        progress(path.stem, done, len(files) + 2)
        claim = path.read_text(encoding="utf-8").split("\n")[0].removeprefix(f"-- {path.stem}: ")
        ((looked_at, violations),) = con.execute(engine.render(path.stem)).fetchall()
        found.append((path.stem, claim, looked_at, violations))
    progress("controls", len(files), len(files) + 2)
    for row in engine.table(con, "controls").to_pylist():
        claim = "both rules select the same attempt where they must"
        name = f"{row['control']} ({row['selector']})"
        found.append((name, claim, row["comparisons"], row["disagreements"]))
    progress("shuffled labels", len(files) + 1, len(files) + 2)
    looked_at, violations = shuffled_labels(con)
    progress("done", len(files) + 2, len(files) + 2)
    claim = "with shuffled labels, every rule stops and every selector picks as before"
    found.append(("labels_shuffled", claim, looked_at, violations))
    names, claims, looked_ats, violated = zip(*found, strict=True)
    return pa.table(
        {
            "check": pa.array(names),
            "claim": pa.array(claims),
            "looked_at": pa.array(looked_ats, pa.int64()),
            "violations": pa.array(violated, pa.int64()),
        }
    )


def shuffled_labels(con: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    """Stops and choices compared, and how many differ once the labels have been dealt out anew."""
    rules = _stored(con, "rules", "select rule, sql, 'answer' from rules order by rule_id")
    selectors = _stored(
        con, "selectors", "select selector, sql, votes_on from selectors order by selector_id"
    )
    con.execute("use memory")
    try:
        rebuilt = {name for name, kept_as in engine.PIPELINE if kept_as != "drawn"}
        kept = con.execute("select table_name from duckdb_tables() where database_name = 'audited'")
        for (name,) in kept.fetchall():
            if name not in rebuilt | {"labels"}:
                con.execute(f"create view {name} as select * from audited.{name}")
        con.execute(
            """
            create table labels as
            with numbered as (
                select
                    *,
                    row_number() over (order by archive, competition, question_id, seed) as place,
                    row_number() over (
                        order by hash(seed, question_id, competition, archive), seed, archive
                    ) as dealt,
                from audited.labels
            )
            select here.archive, here.competition, here.question_id, here.seed, other.correct
            from numbered as here
            inner join numbered as other on here.place = other.dealt
            """
        )
        engine.build(con, "grades", "view")
        for name, kept_as in engine.PIPELINE:
            if name == engine.FIRST_LABELLED:
                break
            if kept_as != "drawn":
                engine.build(con, name, kept_as, rules, selectors)
        looked_at = violations = 0
        for name in ("choices", "stops"):
            ((rows, different),) = con.execute(
                f"""
                select
                    (select count(*) from {name}),
                    (select count(*) from (from {name} except all from audited.{name}))
                        + (select count(*) from (from audited.{name} except all from {name})),
                """
            ).fetchall()
            looked_at, violations = looked_at + rows, violations + different
    finally:
        con.execute("use audited")
    return looked_at, violations


def _stored(con: duckdb.DuckDBPyConnection, kind: str, query: str) -> list[engine.Plugin]:
    """The rules or selectors that a database was replayed with; it may say anything."""
    found = [engine.Plugin(*row) for row in con.execute(query).fetchall()]
    for plugin in found:
        if not NAME_PATTERN.fullmatch(plugin.name):
            raise AuditError(f"the database's {kind[:-1]} {shown(plugin.name)}: no name of one")
        engine.check_plugin(kind, plugin, f"the database's {kind[:-1]} {plugin.name}")
    return found
