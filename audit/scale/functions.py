"""A run past one machine as functions: plan, extract, part, run and gather."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from audit.database import opened
from audit.engine.prices import read_prices
from audit.engine.quality import quality_notes
from audit.load import provenance
from audit.options import Limits, Planned, Reading, Sources, TaskLimits, takes
from audit.output import filters
from audit.output.result import Result
from audit.progress import Progress
from audit.study.fetch import local_files


@takes
def plan(
    sources: Sources,
    out: str | Path,
    parts: int,
    *,
    reading: Reading,
    settings: Planned,
) -> Result:
    """Plan a run past one machine, which workers share as a folder: a row per source file.

    It takes what `load` and `replay` take, checks it and writes the manifest; nothing is read yet.

    out: the run's folder, which every worker sees under the same name
    parts: into how many parts the problems go
    """
    from audit.scale.plan import plan as write

    asked: dict[str, Any] = {**settings, "prices": read_prices(settings.get("prices", ""))}
    if "problems" in settings:
        asked["problems"] = filters.read_problems(Path(settings["problems"]))
    manifest = write(local_files(sources), Path(out), parts, reading=reading, settings=asked)
    size = sum(file.bytes for file in manifest.files)
    caption = f"{len(manifest.files):,} file(s), {size:,} bytes, {parts:,} part(s) in {out}"
    rows = {
        "number": pa.array(range(len(manifest.files)), pa.int64()),
        "file": pa.array([file.shown_name for file in manifest.files], pa.string()),
        "bytes": pa.array([file.bytes for file in manifest.files], pa.int64()),
    }
    notes = [f"note: left out: {reason}" for reason in manifest.skipped]
    return Result(pa.table(rows), caption=caption, notes=notes)


@takes
def extract(
    folder: str | Path,
    number: int | None = None,
    *,
    limits: TaskLimits,
) -> Result:
    """Extract the attempts of one file of a run, or of all that are missing: a row per file.

    Once all are extracted, what the parts share is numbered.

    number: the file, counted from 0 (default: every one that is missing)
    """
    from audit.scale.extract import extract as read
    from audit.scale.folders import missing
    from audit.scale.keys import number_keys
    from audit.scale.plan import read_manifest

    run = Path(folder)
    manifest = read_manifest(run)
    numbers = [number] if number is not None else []
    if number is None:
        numbers = missing(run, "attempts", len(manifest.files), manifest.id)
    rows = [read(run, file_number, limits) for file_number in numbers]
    if number is None:
        number_keys(run, limits)
    columns = {"number": pa.array(numbers, pa.int64()), "attempts": pa.array(rows, pa.int64())}
    caption = f"{sum(rows):,} attempts of {len(numbers):,} file(s) in {folder}"
    return Result(pa.table(columns), caption=caption)


@takes
def part(
    folder: str | Path,
    number: int,
    *,
    limits: TaskLimits,
) -> Result:
    """Make one part of a run, unless it is there, and say how many banks it has walked.

    number: the part, counted from 0
    """
    from audit.scale.part import part as make

    banks = make(Path(folder), number, limits)
    done = f"{banks:,} banks" if banks else "nothing to do"
    return Result(pa.table({"part": [number], "banks": [banks]}), caption=f"part {number}: {done}")


@takes
def run(
    folder: str | Path,
    *,
    on: Literal["local", "spark", "ray"] = "local",
    workers: int = 2,
    master: str | None = None,
    remote: str | None = None,
    address: str | None = None,
    limits: TaskLimits,
    progress: Progress | None = None,
) -> Result:
    """Do what is missing of a run, and nothing else: a row for files and one for parts.

    Local processes import the script that started them: call it below `if __name__ ==
    "__main__"`.

    on: the engine: local processes, spark or ray
    workers: processes of this machine (local, and ray without an address)
    master: Spark's master, such as 'spark://host:7077'
    remote: a Spark Connect server, such as 'sc://host:15002'
    address: a Ray cluster, such as 'auto'
    """
    from audit.scale.run import Where
    from audit.scale.run import run as execute

    where = Where(workers, master, remote, address)
    files, parts = execute(Path(folder), on, limits, where, progress)
    caption = f"{files:,} file(s) extracted, {parts:,} part(s) made in {folder}"
    rows = {"task": ["extract", "part"], "done": [files, parts]}
    return Result(pa.table(rows), caption=caption)


@takes
def gather(
    folder: str | Path,
    db: str | Path,
    *,
    link: bool = False,
    limits: Limits,
) -> Result:
    """Check every part of a run, make one new database of them, and return the settings used.

    db: the database, a file that is not there yet
    link: leave the large relations in the run's files, which the database then needs
    """
    from audit.scale.gather import gather as collect

    gathered = collect(Path(folder), Path(db), link=link, limits=limits)
    with opened(db, **asdict(limits)) as con:
        used = con.sql("from settings order by key").to_arrow_table()
        notes = provenance.load_notes(con, gathered.notes)
        notes += [provenance.replayed_note(con) or "", *quality_notes(con)]
    notes.append("a run keeps no texts: what needs them says so")
    caption = f"{gathered.replays:,} replays of {gathered.banks:,} banks in {db}"
    return Result(used, caption=caption, notes=notes)
