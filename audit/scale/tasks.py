"""The two tasks of a run: extract attempts from files, and replay the problems of one part."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from audit.database import relations
from audit.engine import render
from audit.engine.batches import group_batches
from audit.engine.replay import build_stages, check_contracts
from audit.engine.settings import store_settings
from audit.engine.stages import PORTIONED, STAGE_NAMES, TABLES
from audit.errors import AuditError, explain_error
from audit.load.load import describe_file, format_notes
from audit.load.schema import INCOMING
from audit.load.staging import Staging, read_files
from audit.options import TaskLimits, public
from audit.output.result import Result
from audit.scale.folders import (
    create_folder,
    list_missing,
    open_memory,
    read_receipt,
)
from audit.scale.keys import HANDED_DOWN, fill_records, make_keys
from audit.scale.plan import Manifest, read_manifest, read_settings
from audit.sources.files import SourceFile
from audit.sources.opening import explain_unreadable
from audit.text import literal

# Rows that are written together: one row group of Parquet, from one file or several.
GROUP_ROWS = 20_000
# A part computes every stage up to the last that needs one bank at a time, and writes its tables;
# `gather` computes the later stages from them.
PART_STAGES = STAGE_NAMES[
    : 1 + max(STAGE_NAMES.index(name) for name in PORTIONED if name in TABLES)
]
WRITTEN = tuple(n for n in PART_STAGES if n in TABLES and n not in HANDED_DOWN)


class Task(NamedTuple):
    """An extract or a part to make: the run's path, its number, and its limits."""

    kind: str
    run: str
    number: int
    limits: TaskLimits


class Outcome(NamedTuple):
    """The end of a task, with the error if trying it again would give the same error."""

    kind: str
    number: int
    error: str | None = None


def perform(task: Task) -> Outcome:
    """Run one task in this process; return its error if a further try would repeat it."""
    try:
        if task.kind == "extract":
            extract_files(Path(task.run), task.number)
        else:
            part(task.run, task.number, **asdict(task.limits))
    except (AuditError, duckdb.Error) as error:
        return Outcome(task.kind, task.number, explain_error(error))
    return Outcome(task.kind, task.number)


@public
def extract(folder: str | Path, number: int | None = None, *, limits: TaskLimits) -> Result:
    """Do one extract of a run, or all that are missing: a row per extract.

    An extract reads one source file, or several small ones. After the last one, what the parts
    share is numbered.

    number: the extract, counted from 0 (default: every one that is missing)
    """
    run = Path(folder)
    manifest = read_manifest(run)
    numbers = list_missing(run, manifest, "extract") if number is None else [number]
    rows = [extract_files(run, n) for n in numbers]
    if number is None:
        make_keys(run, limits)
    columns = {"number": pa.array(numbers, pa.int64()), "attempts": pa.array(rows, pa.int64())}
    caption = f"{sum(rows):,} attempts of {len(numbers):,} extract(s) in {folder}"
    return Result(pa.table(columns), caption=caption)


def extract_files(run: Path, number: int) -> int:
    """Read the files of one extract and write their attempts; return how many there are."""
    manifest = read_manifest(run)
    manifest.require("extract", number)
    if read_receipt(run, manifest, "extract", number):
        return 0
    files = {n: manifest.files[n] for n in manifest.extracts[number]}
    skipped = _skip_unreadable(files, manifest)
    # Runs of one task can only be separated once all files are known: `make_keys` does it.
    staging = Staging([*files.values()], replace(manifest.reading, runs=None))
    with create_folder(run, manifest, "extract", number) as (folder, receipt):
        path = folder / "attempts.parquet"
        with pq.ParquetWriter(path, INCOMING, compression="zstd") as writer:
            for group in group_batches(
                _read_rows(staging, [*files]), lambda b: (len(b),), (GROUP_ROWS,)
            ):
                writer.write_table(pa.Table.from_batches(group))
        receipt["skipped"] = skipped
        receipt["sources"] = [
            [n, {**describe_file(source, source.file), "notes": format_notes(source)}]
            for n, source in zip(files, staging.opened, strict=True)
        ]
        return pq.read_metadata(path).num_rows


def _skip_unreadable(files: dict[int, SourceFile], manifest: Manifest) -> list[str]:
    """Remove unreadable files if `--skip-unreadable`; return why. Refuse files that changed."""
    reasons = []
    for number, file in [*files.items()]:
        if not file.path.exists() or file.path.stat().st_size != file.bytes:
            raise AuditError(f"{file.path}: has changed or gone since the plan; plan it again")
        if manifest.reading.skip_unreadable and (
            reason := explain_unreadable(file, manifest.reading)
        ):
            reasons.append(reason)
            del files[number]
    return reasons


def _read_rows(staging: Staging, numbers: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """Yield the attempts of all files, with the number that each file has in the run."""
    of_run = pa.array(numbers, pa.int32())
    for batch in read_files(staging):
        rows = batch.select(INCOMING.names)
        yield rows.set_column(0, INCOMING.field(0), of_run.take(rows["file"]))


@public
def part(folder: str | Path, number: int, *, limits: TaskLimits) -> Result:
    """Make one part of a run, unless it is there, and say how many banks it has walked.

    number: the part, counted from 0
    """
    run = Path(folder)
    manifest = read_manifest(run)
    manifest.require("part", number)
    if read_receipt(run, manifest, "part", number):
        row = {"part": [number], "banks": [0]}
        return Result(pa.table(row), caption=f"part {number}: nothing to do")
    settings, plugins = read_settings(make_keys(run, limits)), manifest.plugins
    with create_folder(run, manifest, "part", number) as (new, _), open_memory(limits) as con:
        fill_records(con, run, number)
        store_settings(con, settings, plugins)
        # Walks are numbered over all banks, so this comes before other parts' banks are removed.
        con.execute(f"create table walks as {render('walks')}")
        con.execute("delete from banks where problem_id not in (select problem_id from problems)")
        ((banks,),) = con.execute("select count(*) from banks").fetchall()
        if banks:
            build_stages(con, settings, plugins, {*HANDED_DOWN, "walks"}, names=PART_STAGES)
            check_contracts(con, plugins)
        for name in {*relations(con)} & {*WRITTEN}:
            path = literal(str(new / f"{name}.parquet"))
            con.execute(f"copy {name} to {path} (compression zstd)")
    row = {"part": [number], "banks": [banks]}
    return Result(pa.table(row), caption=f"part {number}: {banks:,} banks")
