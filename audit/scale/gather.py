"""The parts of a run become one database, as if one machine had replayed it all."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb

from audit.database import REPLAYED_ROW_GROUP, opened, relations, transaction
from audit.engine import comment_relations
from audit.engine.build import render
from audit.engine.quality import quality_notes
from audit.engine.replay import build_stages, finish
from audit.engine.settings import keep
from audit.engine.views import publish
from audit.errors import AuditError, explained
from audit.load import provenance
from audit.options import Limits, TaskLimits, public
from audit.output.result import Result
from audit.scale.folders import RECEIPT, folder_of, parquet, sha256, whole_receipt, whole_receipts
from audit.scale.keys import HANDED_DOWN, fill_records, number_keys
from audit.scale.plan import Manifest, read_manifest, settings_of
from audit.scale.tasks import WRITTEN


@public
def gather(
    folder: str | Path,
    db: str | Path,
    *,
    limits: Limits,
) -> Result:
    """Check every part of a run, make one new database of them, and return the settings used.

    db: the database, a file that is not there yet
    """
    run = Path(folder).resolve()
    manifest = read_manifest(run)
    number_keys(run, TaskLimits())
    keys = whole_receipt(run, manifest, "keys")
    files = _part_files(run, manifest)
    try:
        with opened(
            db, write=True, row_group=REPLAYED_ROW_GROUP, reach=run, **asdict(limits)
        ) as con:
            with transaction(con):
                _fill(con, run, manifest, keys, files)
            used = con.sql("from settings order by key").to_arrow_table()
            notes = provenance.load_notes(con, keys["notes"])
            told = [*quality_notes(con), *quality_notes(con, moment="replay")]
            notes += [provenance.replayed_note(con) or "", *dict.fromkeys(told)]
            ((banks,),) = con.execute("select count(*) from banks").fetchall()
            ((replays,),) = con.execute(render("replay_count")).fetchall()
    except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
        raise AuditError(f"the database could not be written: {explained(error)}") from None
    notes.append("a run keeps no texts: what needs them says so")
    return Result(used, caption=f"{replays:,} replays of {banks:,} banks in {db}", notes=notes)


def _part_files(run: Path, manifest: Manifest) -> dict[str, list[Path]]:
    """Return the files of each relation; name a part that is missing, damaged or foreign."""
    files: dict[str, list[Path]] = {}
    keys = sha256(run / "keys" / RECEIPT)
    for number, receipt in enumerate(whole_receipts(run, manifest, "part")):
        folder = folder_of(run, "part", number)
        if receipt["keys"] != keys:
            raise AuditError(
                f"{folder}: was made with other keys than {run / 'keys'}; remove it and run it "
                "again"
            )
        for name in receipt["files"]:
            files.setdefault(name, []).append(folder / f"{name}.parquet")
    return files


def _fill(
    con: duckdb.DuckDBPyConnection,
    run: Path,
    manifest: Manifest,
    keys: dict[str, Any],
    files: dict[str, list[Path]],
) -> None:
    """Fill a new database with what a load and a replay would have made."""
    if relations(con):
        raise AuditError("the database is there already; gather makes a new one")
    con.execute("set preserve_insertion_order = false")
    settings = settings_of(keys)
    fill_records(con, run)
    comment_relations(con)
    keep(con, settings, manifest.plugins)
    for name, paths in files.items():
        con.execute(f"create table {name} as from {parquet(paths)}")
    build_stages(con, settings, manifest.plugins, {*HANDED_DOWN, *WRITTEN})
    publish(con, manifest.plugins)
    finish(con)
    con.execute("update meta set value = 'fresh' where key = 'replays'")
