"""The two tasks of a run: files become rows without texts, and problems become their totals."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from audit.database import relations
from audit.engine import render
from audit.engine.batches import batches
from audit.engine.replay import build_stages, check_contracts
from audit.engine.settings import keep
from audit.engine.stages import PORTIONED, STAGE_NAMES, TABLES
from audit.errors import AuditError, explained
from audit.load.load import file_facts, source_notes
from audit.load.schema import INCOMING
from audit.load.staging import Staging, read
from audit.options import TaskLimits, public
from audit.output.result import Result
from audit.scale.folders import (
    RECEIPT,
    appearing,
    folder_of,
    missing,
    read_receipt,
    sha256,
    working,
    write_receipt,
)
from audit.scale.keys import HANDED_DOWN, fill_records, number_keys
from audit.scale.plan import Manifest, read_manifest, settings_of
from audit.sources.files import SourceFile
from audit.sources.opening import unreadable
from audit.text import literal

# Rows that are written together, from however many files.
GROUP_ROWS = 20_000
# What a part computes: every stage up to the last that needs one bank at a time. Its tables are
# written; later stages come along by themselves.
PART_STAGES = STAGE_NAMES[
    : 1 + max(STAGE_NAMES.index(name) for name in PORTIONED if name in TABLES)
]
WRITTEN = tuple(n for n in PART_STAGES if n in TABLES and n not in HANDED_DOWN)


class Task(NamedTuple):
    """One extract or one part, given by a path and a number, and what it may use."""

    kind: str
    run: str
    number: int
    limits: TaskLimits


class Outcome(NamedTuple):
    """How a task ended: an error that every further try would repeat is returned, not raised."""

    kind: str
    number: int
    error: str | None = None


def perform(task: Task) -> Outcome:
    """Run one task in this process; the engine tries again after any other failure."""
    try:
        if task.kind == "extract":
            extract_files(Path(task.run), task.number)
        else:
            make_part(Path(task.run), task.number, task.limits)
    except (AuditError, duckdb.Error) as error:
        return Outcome(task.kind, task.number, explained(error))
    return Outcome(task.kind, task.number)


@public
def extract(
    folder: str | Path,
    number: int | None = None,
    *,
    limits: TaskLimits,
) -> Result:
    """Do one extract of a run, or all that are missing: a row per extract.

    An extract reads one source file, or several small ones. After the last one, what the parts
    share is numbered.

    number: the extract, counted from 0 (default: every one that is missing)
    """
    run = Path(folder)
    manifest = read_manifest(run)
    numbers = missing(run, manifest, "extract") if number is None else [number]
    rows = [extract_files(run, n) for n in numbers]
    if number is None:
        number_keys(run, limits)
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
    # Runs of one task are separated when all files are known.
    staging = Staging([*files.values()], replace(manifest.reading, runs=None))
    with appearing(folder_of(run, "extract", number)) as folder:
        path = folder / "attempts.parquet"
        with pq.ParquetWriter(path, INCOMING, compression="zstd") as writer:
            for group in batches(_rows(staging, [*files]), lambda b: (len(b),), (GROUP_ROWS,)):
                writer.write_table(pa.Table.from_batches(group))
        sources = [
            {**file_facts(source, source.file), "notes": source_notes(source)}
            for source in staging.opened
        ]
        pairs = [[n, source] for n, source in zip(files, sources, strict=True)]
        write_receipt(folder, manifest, "extract", number, sources=pairs, skipped=skipped)
        return pq.read_metadata(path).num_rows


def _skip_unreadable(files: dict[int, SourceFile], manifest: Manifest) -> list[str]:
    """Remove unreadable files where that is allowed, and refuse changed ones; return reasons."""
    reasons = []
    for number, file in [*files.items()]:
        if not file.path.exists() or file.path.stat().st_size != file.bytes:
            raise AuditError(f"{file.path}: has changed or gone since the plan; plan it again")
        if manifest.reading.skip_unreadable and (reason := unreadable(file, manifest.reading)):
            reasons.append(reason)
            del files[number]
    return reasons


def _rows(staging: Staging, numbers: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of all files, with each file's number in the run."""
    of_run = pa.array(numbers, pa.int32())
    for batch in read(staging):
        rows = batch.select(INCOMING.names)
        yield rows.set_column(0, INCOMING.field(0), of_run.take(rows["file"]))


@public
def part(
    folder: str | Path,
    number: int,
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
    manifest = read_manifest(run)
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
            check_contracts(con, manifest.plugins)
        for name in relations(con):
            if name in WRITTEN:
                path = literal(str(folder / f"{name}.parquet"))
                con.execute(f"copy {name} to {path} (compression zstd)")
        keys = sha256(run / "keys" / RECEIPT)
        write_receipt(folder, manifest, "part", number, keys=keys, banks=banks)
    return int(banks)
