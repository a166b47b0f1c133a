"""The parts of a run become one database, as if one machine had replayed it all."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

import duckdb

from audit.database import REPLAYED_ROW_GROUP, opened, relations, transaction
from audit.database.schema import TEXTS
from audit.engine import quality
from audit.engine.build import render
from audit.engine.replay import build_stages, finish, publish
from audit.engine.settings import Settings, keep
from audit.errors import AuditError, explained
from audit.load.load import grade_notes
from audit.load.provenance import remember, remember_answer
from audit.load.schema import create_schema
from audit.options import Limits, TaskLimits
from audit.scale.folders import (
    RECEIPT,
    check_files,
    folder_of,
    keys_file,
    missing,
    parquet,
    sha256,
    whole_receipts,
)
from audit.scale.keys import HANDED_DOWN, LOADED_ONCE, number_keys
from audit.scale.part import COMPUTED_HERE, RECORDED_HERE, WRITTEN
from audit.scale.plan import Manifest, same_plan, settings_of
from audit.text import first_names

NAMES_SHOWN = 10
NO_LIMITS = Limits()


class Gathered(NamedTuple):
    """How many banks and replays were gathered, and the notes of the files' readers."""

    banks: int
    replays: int
    notes: list[str]


def gather(run: Path, db: Path, *, limits: Limits = NO_LIMITS) -> Gathered:
    """Make a new database of all parts in one transaction, after every file has been checked."""
    run = run.resolve()
    manifest = same_plan(run)
    keys = number_keys(run, TaskLimits())
    check_files(run / "keys", keys)
    files = check_parts(run, manifest)
    try:
        with (
            opened(
                db, write=True, row_group=REPLAYED_ROW_GROUP, reach=run, **asdict(limits)
            ) as con,
            transaction(con),
        ):
            if relations(con):
                raise AuditError(f"{db}: holds a database already; gather makes a new one")
            con.execute("set preserve_insertion_order = false")
            settings = settings_of(keys)
            _fill(con, run, manifest, settings, files)
            archives = {row[0] for row in con.execute("select archive from sources").fetchall()}
            quality.count_dropped(con, [tuple(row) for row in keys["left_out"]])
            remember(con, manifest.reading.answer, numbers=manifest.reading.numbers)
            quality.count_records(con, archives)
            # The checks of the records count as those of a load without texts do.
            con.execute("insert into meta values (?, 'none')", [TEXTS])
            notes = [*keys["notes"], *(_grade_notes(con) if manifest.reading.grade else ())]
            build_stages(con, settings, manifest.plugins, {*HANDED_DOWN, *COMPUTED_HERE})
            primary = settings.primary_selector
            publish(con, replace(manifest.plugins, unit=settings.unit, primary=primary))
            finish(con)
            con.execute("update meta set value = 'fresh' where key = 'replays'")
            ((banks,),) = con.execute("select count(*) from banks").fetchall()
            ((replays,),) = con.execute(render("replay_count")).fetchall()
    except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
        raise AuditError(f"the database could not be written: {explained(error)}") from None
    return Gathered(banks, replays, notes)


def _grade_notes(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return how often answers match the references, as a load reports it."""
    con.execute("create temp view incoming as from labels")
    notes = [*grade_notes(con)]
    con.execute("drop view incoming")
    return notes


def check_parts(run: Path, manifest: Manifest) -> dict[str, list[Path]]:
    """Return the files of each relation; name a part that is missing, damaged or foreign."""
    if waiting := missing(run, "parts", manifest.parts, manifest.id):
        names = first_names([*map(str, waiting)], NAMES_SHOWN)
        raise AuditError(
            f"{run}: {len(waiting):,} of {manifest.parts:,} parts are missing: {names}; run "
            f"'budget-audit run {run}' again, or 'budget-audit part {run} {waiting[0]}'"
        )
    files: dict[str, list[Path]] = {name: [] for name in WRITTEN}
    keys = sha256(run / "keys" / RECEIPT)
    for receipt in whole_receipts(run, "parts", manifest.parts, manifest.id):
        folder = folder_of(run, "parts", receipt["number"])
        if receipt["keys"] != keys:
            raise AuditError(
                f"{folder}: was made with other keys than {run / 'keys'}; run it again"
            )
        for name in receipt["files"]:
            files[name].append(folder / f"{name}.parquet")
    return files


def _fill(
    con: duckdb.DuckDBPyConnection,
    run: Path,
    manifest: Manifest,
    settings: Settings,
    files: Mapping[str, list[Path]],
) -> None:
    """Fill what a load and the stages of the parts would have made."""
    create_schema(con)
    for name in LOADED_ONCE:
        con.execute(f"insert into {name} from {keys_file(run, name)}")
    # Votes depend on whether there are answers.
    remember_answer(con, manifest.reading.answer)
    keep(con, settings, manifest.plugins)
    for name in HANDED_DOWN:
        con.execute(f"create table {name} as from {keys_file(run, name)}")
    for name in WRITTEN:
        if name in RECORDED_HERE:
            con.execute(f"insert into {name} from {parquet(files[name])}")
        else:
            con.execute(f"create table {name} as from {parquet(files[name])}")
