"""One part of a run: the stages from the attempts to the per-problem totals, of its problems."""

from dataclasses import replace
from pathlib import Path

import duckdb

from audit.database import relations
from audit.engine import render
from audit.engine.plugins import Plugins
from audit.engine.replay import build_stages, check_contracts
from audit.engine.settings import Settings, keep
from audit.engine.stages import PORTIONED, STAGE_NAMES, TABLES
from audit.errors import AuditError
from audit.load.checkpoints import load_checkpoints
from audit.load.load import fill_records
from audit.load.provenance import remember_answer
from audit.load.schema import FILLED, create_schema
from audit.options import TaskLimits
from audit.scale.folders import (
    appearing,
    folder_of,
    keys_file,
    read_receipt,
    sha256,
    working,
    write_receipt,
)
from audit.scale.keys import HANDED_DOWN, LOADED_ONCE, attempts_of, number_keys
from audit.scale.plan import Manifest, same_plan, settings_of
from audit.text import literal

# What a part computes: every stage up to the last that needs one bank at a time. Its tables are
# written, and so is what a load would have filled; later stages come along by themselves.
PART_STAGES = STAGE_NAMES[
    : 1 + max(STAGE_NAMES.index(name) for name in PORTIONED if name in TABLES)
]
FILLED_HERE = tuple(name for name in FILLED if name not in LOADED_ONCE)
COMPUTED_HERE = tuple(n for n in PART_STAGES if n in TABLES and n not in HANDED_DOWN)
CHECKPOINTS = ("checkpoints", "checkpoint_labels")
RECORDED_HERE = (*FILLED_HERE, *CHECKPOINTS)
WRITTEN = (*RECORDED_HERE, *COMPUTED_HERE)
PARQUET = "(format parquet, compression zstd)"


def part(run: Path, number: int, limits: TaskLimits) -> int:
    """Replay the problems of one part and write its relations; return how many banks it has."""
    manifest = same_plan(run)
    if not 0 <= number < manifest.parts:
        raise AuditError(f"{run}: has no part {number}; they are 0 to {manifest.parts - 1}")
    if read_receipt(folder_of(run, "parts", number), manifest.id):
        return 0
    settings = settings_of(number_keys(run, limits))
    with appearing(folder_of(run, "parts", number)) as folder, working(limits) as con:
        _fill(con, run, number, manifest)
        remember_answer(con, manifest.reading.answer)
        banks = _replay(con, run, settings, manifest.plugins)
        made = relations(con)
        rows = {}
        for name in WRITTEN:
            if name in made:
                copy = f"copy {name} to {literal(str(folder / f'{name}.parquet'))} {PARQUET}"
                ((rows[name],),) = con.execute(copy).fetchall()
        content = {
            "manifest": manifest.id,
            "keys": sha256(run / "keys" / "receipt.json"),
            "number": number,
            "banks": banks,
        }
        write_receipt(folder, content, rows)
    return banks


def _fill(con: duckdb.DuckDBPyConnection, run: Path, number: int, manifest: Manifest) -> None:
    """Fill the tables of a load with the attempts at the problems of a part."""
    create_schema(con)
    con.execute(f"create temp table dealt as from {keys_file(run, 'dealt')} where part = {number}")
    con.execute("create temp table wanted as select distinct competition, question_id from dealt")
    files = {file for (file,) in con.execute("select distinct file from dealt").fetchall()}
    extracts = [n for n, read in enumerate(manifest.extracts) if files.intersection(read)]
    # A part without problems has the columns of any extract.
    con.execute(f"create view extracted as from {attempts_of(run, extracts or [0])}")
    con.execute(f"create temp table incoming as {render('dealt_attempts')}")
    con.execute(f"insert into problem_names from {keys_file(run, 'problem_names')}")
    load_checkpoints(con, [*manifest.files], None, manifest.reading)
    fill_records(con, FILLED_HERE)
    con.execute("drop table incoming; drop table incoming_checkpoints")
    con.execute("drop table dealt; drop view extracted")


def _replay(con: duckdb.DuckDBPyConnection, run: Path, settings: Settings, plugins: Plugins) -> int:
    """Build the stages for the problems that are there; return how many banks were walked."""
    keep(con, settings, plugins)
    # The numbers of walks depend on all banks.
    con.execute(f"create view banks as from {keys_file(run, 'banks')}")
    for name in HANDED_DOWN:
        if name not in ("replayed_problems", "banks"):
            con.execute(f"create table {name} as from {keys_file(run, name)}")
    con.execute(
        f"create table replayed_problems as from {keys_file(run, 'replayed_problems')} "
        "semi join wanted using (competition, question_id)"
    )
    con.execute(
        "create temp table own_banks as select banks.* from banks "
        "inner join problems using (problem_id) semi join wanted using (competition, question_id)"
    )
    con.execute(
        f"create table walks as from ({render('walks')}) semi join own_banks using (bank_id)"
    )
    con.execute("drop view banks")
    con.execute("create table banks as from own_banks")
    ((banks,),) = con.execute("select count(*) from banks").fetchall()
    if banks:
        build_stages(con, settings, plugins, {*HANDED_DOWN, "walks"}, names=PART_STAGES)
        own = replace(plugins, unit=settings.unit, primary=settings.primary_selector)
        check_contracts(con, own)
    return banks
