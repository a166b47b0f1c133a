"""One part of a run: the stages from the attempts to the per-problem totals, of its problems."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet

from audit.engine import render
from audit.engine.batches import batches
from audit.engine.plugins import Plugins
from audit.engine.replay import build_stages, check_contracts, keep_walk_settings
from audit.engine.settings import Settings, keep
from audit.engine.stages import PORTION_ROWS, PORTIONED, STAGE_NAMES, TABLES
from audit.errors import AuditError
from audit.load.load import fill_records
from audit.load.provenance import remember_answer
from audit.load.schema import FILLED, create_schema
from audit.options import TaskLimits
from audit.scale.folders import (
    appearing,
    folder_of,
    keys_file,
    own_receipt,
    parquet,
    sha256,
    working,
    write_receipt,
)
from audit.scale.keys import HANDED_DOWN, LOADED_ONCE, append_runs, number_keys
from audit.scale.plan import same_plan, settings_of

# What a part computes: every stage up to the last that needs one bank at a time. Its tables are
# written, and so is what a load would have filled; later stages come along by themselves.
PART_STAGES = STAGE_NAMES[: 1 + max(STAGE_NAMES.index(name) for name in PORTIONED)]
FILLED_HERE = tuple(name for name in FILLED if name not in LOADED_ONCE)
COMPUTED_HERE = tuple(n for n in PART_STAGES if n in TABLES and n not in HANDED_DOWN)
WRITTEN = (*FILLED_HERE, *COMPUTED_HERE)
# Rows of a Parquet row group.
BATCH_ROWS = 100_000


def part(run: Path, number: int, limits: TaskLimits) -> int:
    """Replay the problems of one part and write its relations; say how many banks it has."""
    manifest = same_plan(run)
    if not 0 <= number < manifest.parts:
        raise AuditError(f"{run}: has no part {number}; they are 0 to {manifest.parts - 1}")
    if own_receipt(folder_of(run, "parts", number), manifest.id):
        return 0
    settings = settings_of(number_keys(run, limits))
    writers: dict[str, pyarrow.parquet.ParquetWriter] = {}
    rows: dict[str, int] = {}
    banks = 0
    with appearing(folder_of(run, "parts", number)) as folder:
        try:
            # Memory depends on the problems that are walked at a time, not on the part.
            dealt = _dealt(run, number, limits)
            for problems in batches(dealt, lambda problem: problem[2:], (PORTION_ROWS,)):
                with working(limits) as con:
                    _fill(con, run, number, problems, manifest.reading.runs)
                    remember_answer(con, manifest.reading.answer)
                    banks += _replay(con, run, settings, manifest.plugins)
                    for name in WRITTEN:
                        rows[name] = rows.get(name, 0) + _append(con, name, folder, writers)
        finally:
            for writer in writers.values():
                writer.close()
        content = {
            "manifest": manifest.id,
            "keys": sha256(run / "keys" / "receipt.json"),
            "number": number,
            "banks": banks,
        }
        write_receipt(folder, content, {name: rows[name] for name in writers})
    return banks


def _dealt(run: Path, number: int, limits: TaskLimits) -> list[tuple[str, int, int]]:
    """The problems that were dealt to a part, each with how many rows it holds at a time."""
    columns = "competition, question_id, rows_held"
    query = f"select {columns} from {keys_file(run, 'dealt')} where part = ? order by all"
    with working(limits) as con:
        return con.execute(query, [number]).fetchall()


def _fill(
    con: duckdb.DuckDBPyConnection,
    run: Path,
    number: int,
    problems: Sequence[tuple[str, int, int]],
    runs: str | None,
) -> None:
    """Fill the tables of a load with the attempts at these problems."""
    create_schema(con)
    con.execute("create table wanted (competition varchar, question_id bigint)")
    con.executemany("insert into wanted values (?, ?)", [problem[:2] for problem in problems])
    con.execute(
        f"create table places as from {keys_file(run, 'places')} "
        "semi join wanted using (competition, question_id) where part = ?",
        [number],
    )
    files = con.execute("select distinct file from places order by file").fetchall()
    paths = [folder_of(run, "attempts", file) / "attempts.parquet" for (file,) in files]
    con.execute(f"create view extracted as from {parquet(paths)}")
    con.execute(f"create temp table incoming as {render('dealt_attempts')}")
    if runs == "append":
        append_runs(con)
    con.execute(
        "update incoming set correct = false where correct is null "
        f"and archive in (select archive from {keys_file(run, 'settled')})"
    )
    con.execute(f"insert into problem_names from {keys_file(run, 'problem_names')}")
    fill_records(con, FILLED_HERE)
    con.execute("drop table incoming")
    con.execute("drop view extracted")


def _replay(con: duckdb.DuckDBPyConnection, run: Path, settings: Settings, plugins: Plugins) -> int:
    """Build the stages for the problems that are there; say how many banks were walked."""
    keep(con, settings, plugins)
    keep_walk_settings(con, settings, plugins)
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
        check_contracts(con, plugins)
    return banks


def _append(
    con: duckdb.DuckDBPyConnection,
    name: str,
    folder: Path,
    writers: dict[str, Any],
) -> int:
    """Add the rows of a relation to its file; say how many there are."""
    if not con.execute("select 1 from duckdb_tables() where table_name = ?", [name]).fetchall():
        return 0
    rows = 0
    reader = con.sql(f"from {name}").to_arrow_reader(BATCH_ROWS)
    if name not in writers:
        path = folder / f"{name}.parquet"
        writers[name] = pyarrow.parquet.ParquetWriter(path, reader.schema, compression="zstd")
    for batch in reader:
        writers[name].write_batch(batch)
        rows += batch.num_rows
    return rows
