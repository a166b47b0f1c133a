"""Check the invariants of a database: a SQL file each, and a replay with shuffled labels."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit import database, engine
from audit.engine.foresight import OUTPUT_STAGE, find_breaches
from audit.engine.plugins import KINDS, Plugin, Plugins, check_plugin
from audit.engine.stages import BLIND_FOLDERS, DRAWN, STAGES
from audit.errors import AuditError
from audit.progress import Progress
from audit.sources.files import excerpt
from audit.text import quoted
from audit.units import UNITS

CHECKED = pa.schema(
    {
        "check": pa.string(),
        "claim": pa.string(),
        "looked_at": pa.int64(),
        "violations": pa.int64(),
        "measured": pa.string(),
        "file": pa.string(),
        "line": pa.int64(),
        "seconds": pa.float64(),
    }
)


def check(path: str | Path, progress: Progress | None = None, **limits: Any) -> pa.Table:
    """Check every invariant of a database; return a row each with counts and violations."""
    with database.connect_beside(path, **limits) as con:
        database.require_replays(con)
        return _run_checks(con, progress or (lambda what, done, total: None))


def _run_checks(con: duckdb.DuckDBPyConnection, progress: Progress) -> pa.Table:
    files = sorted((engine.find_folder("sql") / "checks").glob("*.sql"))
    total, checks = len(files) + 4, Checks()
    for done, name in enumerate(path.stem for path in files):
        progress(name, done, total)
        ((looked_at, violations),) = con.execute(engine.render(name)).fetchall()
        checks.add(name, engine.read_header(name)[name], looked_at, violations)
    progress("controls", len(files), total)
    for row in engine.compute_table(con, "controls").to_pylist():
        claim = "both rules select the same attempt where they must"
        name = f"{row['control']} ({row['selector']})"
        checks.add(name, claim, row["comparisons"], row["disagreements"])
    progress("data_quality", len(files) + 1, total)
    rows = engine.compute_table(con, "data_quality").to_pylist()
    unfit = [f"{row['archive']}: {row['check']}" for row in rows if row["severity"] == "fail"]
    claim = "no archive's records fail a check of data_quality"
    checks.add("data_quality", claim, len(rows), len(unfit), measured="; ".join(unfit))
    progress("shuffled labels", len(files) + 2, total)
    looked_at, violations = check_shuffled_labels(con)
    claim = "with shuffled labels, every rule stops and every selector picks as before"
    checks.add("labels_shuffled", claim, looked_at, violations)
    progress("foresight", len(files) + 3, total)
    stored = _read_plugins(con)
    kinds = [kind for kind in OUTPUT_STAGE if getattr(stored, kind)]
    ((walks,),) = con.execute(f"select count(*) from ({engine.render('sampled_walks')})").fetchall()
    claim = "a rule, selector or policy says the same of a prefix whatever comes after it"
    checks.add("no_foresight", claim, walks * len(kinds), len(find_breaches(con, stored, kinds)))
    progress("done", total, total)
    return checks.table()


class Checks:
    """The rows of the checks made so far, each with its duration."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.since = time.perf_counter()

    def add(self, check: str, claim: str, looked_at: int, violations: int, **more: Any) -> None:
        """Add the row of a check; `more` sets its other columns."""
        now = time.perf_counter()
        row = {"check": check, "claim": claim, "looked_at": looked_at, "violations": violations}
        self.rows.append(row | {"seconds": now - self.since} | more)
        self.since = now

    def table(self) -> pa.Table:
        """Return the checks as a table."""
        return pa.Table.from_pylist(self.rows, schema=CHECKED)


def check_shuffled_labels(con: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    """Shuffle the labels, rebuild stops and picks; return how many were compared and differ."""
    plugins = _read_plugins(con)
    blind = [
        stage.rpartition("/")[2] for stage in STAGES if stage.partition("/")[0] in BLIND_FOLDERS
    ]
    con.execute("use memory")
    try:
        # Views that read the Parquet files of a run hold data, and are treated like tables.
        relations = con.execute(
            "select table_name from duckdb_tables() where database_name = 'audited' "
            "and schema_name = 'main' union all "
            "select view_name from duckdb_views() where database_name = 'audited' "
            "and schema_name = 'main' and contains(sql, 'read_parquet(')"
        )
        for (name,) in relations.fetchall():
            if name.lower() not in {*blind, "labels"} or name in DRAWN:
                con.execute(f"create view {quoted(name)} as select * from audited.{quoted(name)}")
        con.execute(f"create table labels as {engine.render('dealt_labels')}")
        for name in ("grades", "scores"):
            con.execute(f"create view {name} as {engine.render(name)}")
        for name in blind:
            if name not in DRAWN:
                engine.build(con, name, plugins)
        looked_at = violations = 0
        for name in ("picks", "stops"):
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


def _read_plugins(con: duckdb.DuckDBPyConnection) -> Plugins:
    """Read the plug-ins of the replay from a database, and check them: it may be a stranger's."""
    plugins: dict[str, list[Plugin]] = {}
    for kind in KINDS:
        query = f"select name, sql, votes_on, path from used_{kind} order by name"
        plugins[kind] = [Plugin(*row) for row in con.execute(query).fetchall()]
        for plugin in plugins[kind]:
            where = f"the database's {KINDS[kind].one} {excerpt(plugin.name)}"
            check_plugin(kind, replace(plugin, path=where))
    ((unit,),) = con.execute("select unit from unit").fetchall()
    if unit not in UNITS:
        raise AuditError(f"the database's unit {excerpt(unit)} is none of {', '.join(UNITS)}")
    primary = con.execute("select selector from used_selectors where is_primary").fetchall()
    names = [name for (name,) in primary] or [Plugins.primary]
    return Plugins(plugins["rules"], plugins["selectors"], plugins["policies"], unit, names[0])
