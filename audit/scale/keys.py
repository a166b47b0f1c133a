"""What was extracted becomes the records of one load, and problems are dealt to parts."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit.database import insert
from audit.database.schema import LOADED, TEXTS, keep_fact
from audit.engine import build, render
from audit.engine.scores import FOLDER, check_weights, score_of, scores
from audit.engine.settings import Settings, keep
from audit.engine.stages import STAGE_NAMES
from audit.errors import AuditError
from audit.load.load import settle
from audit.load.schema import create_schema
from audit.options import Reading, TaskLimits
from audit.output import filters
from audit.scale.folders import (
    appearing,
    folder_of,
    parquet,
    read_receipt,
    whole_receipts,
    working,
    write_receipt,
)
from audit.scale.plan import Manifest, read_manifest
from audit.sources.opening import require_some
from audit.sources.runs import appended
from audit.text import literal, not_there

# Stages that need all archives, or all problems: made once, and handed down to every part.
HANDED_DOWN = ("replayed_problems", "archives", "problems", "banks", "graded_archives")
SHARED = (*LOADED, *HANDED_DOWN)
# Attempts that are the same for a run; extracts name an attempt by its file and its row in them.
SAME_ATTEMPT = "incoming.file = changed.file and incoming.place = changed.place"


def number_keys(run: Path, limits: TaskLimits) -> dict[str, Any]:
    """Load what was extracted, and number what all parts share, once; return the receipt."""
    manifest = read_manifest(run)
    if receipt := read_receipt(run, manifest, "keys"):
        return receipt
    receipts = whole_receipts(run, manifest, "extract")
    read = dict(pair for receipt in receipts for pair in receipt["sources"])
    skipped = [*manifest.skipped, *(reason for r in receipts for reason in r["skipped"])]
    require_some([*read], skipped)
    with appearing(run / "keys") as folder, working(limits) as con:
        notes = [f"left out: {reason}" for reason in skipped]
        notes += [note for source in read.values() for note in source["notes"]]
        notes += _load(con, run, manifest, read)
        settings = manifest.settings
        asked = (settings.archives, settings.competitions, settings.problems)
        settings = replace(settings, **vars(filters.loaded(con, *asked, prefix="only-")))
        _require_scores(con, manifest, settings)
        keep(con, settings, manifest.plugins)
        for name in STAGE_NAMES:
            if name in HANDED_DOWN:
                build(con, name, manifest.plugins)
        if not con.execute("select 1 from banks limit 1").fetchall():
            raise AuditError(
                "--only-archive, --only-competition and --problems together leave no problem to "
                "replay; plan another run"
            )
        dealt = f"create table dealt_problems as {render('dealt_problems')}"
        con.execute(dealt, {"parts": manifest.parts})
        _write(con, folder)
        write_receipt(folder, manifest, "keys", settings=asdict(settings), notes=notes)
    return read_receipt(run, manifest, "keys") or {}


def _load(
    con: duckdb.DuckDBPyConnection,
    run: Path,
    manifest: Manifest,
    read: Mapping[int, Mapping[str, Any]],
) -> list[str]:
    """Fill the tables of a load with all extracted attempts; return its notes."""
    create_schema(con)
    paths = [
        folder_of(run, "extract", n) / "attempts.parquet" for n in range(len(manifest.extracts))
    ]
    con.execute(f"create view extracted as from {parquet(paths, ', file_row_number = true')}")
    con.execute(f"create table met as {render('met_problems')}")
    con.execute(f"create table incoming as {render('extracted_attempts')}")
    _settle_runs(con, manifest.reading)
    _, notes = settle(con, manifest.reading, [*manifest.files], read)
    # The checks of the records count as those of a load without texts do.
    keep_fact(con, TEXTS, "none")
    return notes


def _settle_runs(con: duckdb.DuckDBPyConnection, reading: Reading) -> None:
    """Separate the runs of one task, or append them, as a load does while it reads."""
    if reading.runs == "separate":
        con.execute(
            f"update incoming set archive = run_archive from ({render('separate_archives')}) "
            f"as changed where {SAME_ATTEMPT}"
        )
    if reading.runs == "append":
        rows = con.execute(render("appended_attempts")).fetchall()
        seeds: list[int] = []
        for _, of_bank in groupby(rows, key=lambda row: row[:3]):
            seeds += appended((file, seed) for *_, file, _, seed in of_bank)
        files, places = ([row[at] for row in rows] for at in (3, 4))
        columns = {"file": files, "place": places, "seed": seeds}
        insert(con, "create table appended as", pa.table(columns))
        con.execute(
            f"update incoming set seed = changed.seed from appended as changed where {SAME_ATTEMPT}"
        )


def _require_scores(con: duckdb.DuckDBPyConnection, manifest: Manifest, settings: Settings) -> None:
    """Refuse a selector of a score that no file has, or whose values are no weights."""
    selectors, names = manifest.plugins.selectors, scores(con)
    for score in (score_of(one) for one in selectors if one.path.startswith(FOLDER)):
        if score not in names:
            raise AuditError(f"--selectors: {not_there('score', score, names)}; plan another run")
    check_weights(con, selectors, settings)


def _write(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Write every table of the load and what is handed down; rows of problems sorted by parts."""
    con.execute("set preserve_insertion_order = true")
    dealt = "inner join dealt_problems using (competition, question_id) order by part"
    for name in (*SHARED, "dealt_problems"):
        is_dealt = "question_id" in con.table(name).columns and name != "dealt_problems"
        rows = f"select {name}.*, part from {name} {dealt}" if is_dealt else f"from {name}"
        con.execute(f"copy ({rows}) to {literal(str(folder / f'{name}.parquet'))}")


def fill_records(con: duckdb.DuckDBPyConnection, run: Path, part: int | None = None) -> None:
    """Fill the tables of a load, and those handed down, with what one part has, or all."""
    create_schema(con)
    con.execute("delete from meta")
    for name in SHARED:
        rows = f"from {parquet([run / 'keys' / f'{name}.parquet'])}"
        if "part" in con.sql(rows).columns:
            chosen = "" if part is None else f" where part = {part}"
            rows = f"select * exclude (part) {rows}{chosen}"
        into = f"insert into {name} by name" if name in LOADED else f"create table {name} as"
        con.execute(f"{into} {rows}")
