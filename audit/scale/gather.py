"""Gather the parts of a run into one database, equal to that of a replay on one machine."""

from dataclasses import asdict
from pathlib import Path

from audit.database import REPLAYED_ROW_GROUP, open_database, relations, transaction
from audit.engine import comment_relations
from audit.engine.build import render
from audit.engine.quality import find_quality_notes
from audit.engine.replay import build_stages, finish_replay
from audit.engine.settings import store_settings
from audit.engine.views import publish
from audit.errors import AuditError
from audit.load import provenance
from audit.options import Limits, TaskLimits, public
from audit.output.result import Result
from audit.scale.folders import check_folder, check_folders, locate_folder, read_parquet
from audit.scale.keys import HANDED_DOWN, fill_records, make_keys
from audit.scale.plan import read_manifest, read_settings
from audit.scale.tasks import WRITTEN


@public
def gather(folder: str | Path, db: str | Path, *, limits: Limits) -> Result:
    """Check every part of a run, make one new database of them, and return the settings used.

    db: the database, a file that is not there yet
    """
    run = Path(folder).resolve()
    manifest = read_manifest(run)
    make_keys(run, TaskLimits())
    keys = check_folder(run, manifest, "keys")
    settings = read_settings(keys)
    files: dict[str, list[Path]] = {}
    for number, receipt in enumerate(check_folders(run, manifest, "part")):
        for name in receipt["files"]:
            path = locate_folder(run, "part", number) / f"{name}.parquet"
            files.setdefault(name, []).append(path)
    options = {"row_group": REPLAYED_ROW_GROUP, "reach": run, **asdict(limits)}
    with open_database(db, write=True, **options) as con:
        with transaction(con):
            if relations(con):
                raise AuditError("the database is there already; gather makes a new one")
            con.execute("set preserve_insertion_order = false")
            fill_records(con, run)
            comment_relations(con)
            store_settings(con, settings, manifest.plugins)
            for name, paths in files.items():
                con.execute(f"create table {name} as from {read_parquet(paths)}")
            build_stages(con, settings, manifest.plugins, {*HANDED_DOWN, *WRITTEN})
            publish(con, manifest.plugins)
            finish_replay(con)
            con.execute("update meta set value = 'fresh' where key = 'replays'")
        used = con.sql("from settings order by key").to_arrow_table()
        notes = provenance.list_load_notes(con, keys["notes"])
        warnings = [*find_quality_notes(con), *find_quality_notes(con, moment="replay")]
        notes += [provenance.replayed_note(con) or "", *dict.fromkeys(warnings)]
        ((banks,),) = con.execute("select count(*) from banks").fetchall()
        ((replays,),) = con.execute(render("replay_count")).fetchall()
    notes.append("a run keeps no texts: what needs them says so")
    return Result(used, caption=f"{replays:,} replays of {banks:,} banks in {db}", notes=notes)
