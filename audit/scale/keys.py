"""The keys of a run: the tables of a load from all extracts, and the part of every problem."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit.database import insert
from audit.database.schema import LOADED, TEXTS, store_fact
from audit.engine import build, render
from audit.engine.scores import FOLDER, check_weights, find_score, list_scores
from audit.engine.settings import store_settings
from audit.engine.stages import STAGE_NAMES
from audit.errors import AuditError
from audit.load.load import finish_load
from audit.load.schema import create_schema
from audit.options import Reading, TaskLimits
from audit.output import filters
from audit.scale.folders import (
    check_folders,
    create_folder,
    locate_folder,
    open_memory,
    read_parquet,
    read_receipt,
)
from audit.scale.plan import Manifest, read_manifest
from audit.sources.opening import require_files
from audit.sources.runs import append_numbers
from audit.text import literal, not_there

# Stages that need all archives or all problems, so that parts read them and do not build them.
HANDED_DOWN = ("replayed_problems", "archives", "problems", "banks", "graded_archives")
SHARED = (*LOADED, *HANDED_DOWN)
# Extracts identify an attempt by its file and its row there.
SAME_ATTEMPT = "incoming.file = changed.file and incoming.place = changed.place"


def make_keys(run: Path, limits: TaskLimits) -> dict[str, Any]:
    """Load all extracts and write the tables that parts share, once; return their receipt."""
    manifest = read_manifest(run)
    if receipt := read_receipt(run, manifest, "keys"):
        return receipt
    receipts = check_folders(run, manifest, "extract")
    read = dict(pair for receipt in receipts for pair in receipt["sources"])
    skipped = [*manifest.skipped, *(reason for r in receipts for reason in r["skipped"])]
    require_files([*read], skipped)
    with create_folder(run, manifest, "keys") as (folder, made), open_memory(limits) as con:
        notes = [f"left out: {reason}" for reason in skipped]
        notes += [note for source in read.values() for note in source["notes"]]
        notes += _load_extracts(con, run, manifest, read)
        settings = manifest.settings
        asked = (settings.archives, settings.competitions, settings.problems)
        settings = replace(settings, **vars(filters.match_filter(con, *asked, prefix="only-")))
        selectors, names = manifest.plugins.selectors, list_scores(con)
        for score in (find_score(one) for one in selectors if one.path.startswith(FOLDER)):
            if score not in names:
                unknown = not_there("score", score, names)
                raise AuditError(f"--selectors: {unknown}; plan another run")
        check_weights(con, selectors, settings)
        store_settings(con, settings, manifest.plugins)
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
        _write_tables(con, folder)
        made |= {"settings": asdict(settings), "notes": notes}
    return read_receipt(run, manifest, "keys") or {}


def _load_extracts(
    con: duckdb.DuckDBPyConnection,
    run: Path,
    manifest: Manifest,
    read: Mapping[int, Mapping[str, Any]],
) -> list[str]:
    """Fill the tables of a load with the attempts of all extracts; return the load's notes."""
    create_schema(con)
    folders = [locate_folder(run, "extract", n) for n in range(len(manifest.extracts))]
    paths = [folder / "attempts.parquet" for folder in folders]
    con.execute(f"create view extracted as from {read_parquet(paths, ', file_row_number = true')}")
    con.execute(f"create table met as {render('met_problems')}")
    con.execute(f"create table incoming as {render('extracted_attempts')}")
    _settle_runs(con, manifest.reading)
    _, notes = finish_load(con, manifest.reading, [*manifest.files], read)
    # A run keeps no texts: `check` treats its records as those of `load --no-texts`.
    store_fact(con, TEXTS, "none")
    return notes


def _settle_runs(con: duckdb.DuckDBPyConnection, reading: Reading) -> None:
    """Give runs of one task archives or seeds of their own (`--runs`), as a load would."""
    if reading.runs == "separate":
        con.execute(
            f"update incoming set archive = run_archive from ({render('separate_archives')}) "
            f"as changed where {SAME_ATTEMPT}"
        )
    if reading.runs == "append":
        rows = con.execute(render("appended_attempts")).fetchall()
        seeds: list[int] = []
        for _, of_bank in groupby(rows, key=lambda row: row[:3]):
            seeds += append_numbers((file, seed) for *_, file, _, seed in of_bank)
        files, places = ([row[at] for row in rows] for at in (3, 4))
        columns = {"file": files, "place": places, "seed": seeds}
        insert(con, "create table appended as", pa.table(columns))
        con.execute(
            f"update incoming set seed = changed.seed from appended as changed where {SAME_ATTEMPT}"
        )


def _write_tables(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Write every shared table as a Parquet file, rows that belong to a problem sorted by part."""
    con.execute("set preserve_insertion_order = true")
    dealt = "inner join dealt_problems using (competition, question_id) order by part"
    for name in SHARED:
        is_dealt = "question_id" in con.table(name).columns
        rows = f"select {name}.*, part from {name} {dealt}" if is_dealt else f"from {name}"
        con.execute(f"copy ({rows}) to {literal(str(folder / f'{name}.parquet'))}")


def fill_records(con: duckdb.DuckDBPyConnection, run: Path, part: int | None = None) -> None:
    """Read the shared tables into a database: the rows of one part, or of all parts."""
    create_schema(con)
    con.execute("delete from meta")
    for name in SHARED:
        rows = f"from {read_parquet([run / 'keys' / f'{name}.parquet'])}"
        if "part" in con.sql(rows).columns:
            chosen = "" if part is None else f" where part = {part}"
            rows = f"select * exclude (part) {rows}{chosen}"
        into = f"insert into {name} by name" if name in LOADED else f"create table {name} as"
        con.execute(f"{into} {rows}")
