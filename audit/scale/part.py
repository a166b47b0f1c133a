"""One part of a run: the stages from the attempts to the per-problem totals, of its problems."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from audit.database import relations
from audit.engine import render
from audit.engine.replay import build_stages, check_contracts
from audit.engine.settings import keep
from audit.engine.stages import PORTIONED, STAGE_NAMES, TABLES
from audit.options import TaskLimits, public
from audit.output.result import Result
from audit.scale.folders import appearing, folder_of, read_receipt, sha256, working, write_receipt
from audit.scale.keys import HANDED_DOWN, fill_records, number_keys
from audit.scale.plan import same_plan, settings_of
from audit.text import literal

# What a part computes: every stage up to the last that needs one bank at a time. Its tables are
# written; later stages come along by themselves.
PART_STAGES = STAGE_NAMES[
    : 1 + max(STAGE_NAMES.index(name) for name in PORTIONED if name in TABLES)
]
WRITTEN = tuple(n for n in PART_STAGES if n in TABLES and n not in HANDED_DOWN)


@public
def part(
    folder: str | Path,
    number: int,
    *,
    limits: TaskLimits,
) -> Result:
    """Make one part of a run, unless it is there, and say how many banks it has walked.

    number: the part, counted from 0
    """
    banks = make_part(Path(folder), number, limits)
    done = f"{banks:,} banks" if banks else "nothing to do"
    return Result(pa.table({"part": [number], "banks": [banks]}), caption=f"part {number}: {done}")


def make_part(run: Path, number: int, limits: TaskLimits) -> int:
    """Replay the problems of one part and write its relations; return how many banks it has."""
    manifest = same_plan(run)
    manifest.require("part", number)
    if read_receipt(run, manifest, "part", number):
        return 0
    settings = settings_of(number_keys(run, limits))
    with appearing(folder_of(run, "part", number)) as folder, working(limits) as con:
        fill_records(con, run, number)
        keep(con, settings, manifest.plugins)
        # The numbers of walks depend on all banks.
        con.execute(f"create table walks as {render('walks')}")
        con.execute("delete from banks where problem_id not in (select problem_id from problems)")
        ((banks,),) = con.execute("select count(*) from banks").fetchall()
        if banks:
            build_stages(
                con, settings, manifest.plugins, {*HANDED_DOWN, "walks"}, names=PART_STAGES
            )
            primary = settings.primary_selector
            check_contracts(con, replace(manifest.plugins, unit=settings.unit, primary=primary))
        for name in relations(con):
            if name in WRITTEN:
                path = literal(str(folder / f"{name}.parquet"))
                con.execute(f"copy {name} to {path} (compression zstd)")
        keys = sha256(run / "keys" / "receipt.json")
        write_receipt(folder, manifest, "part", number, keys=keys, banks=banks)
    return int(banks)
