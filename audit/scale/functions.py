"""A run past one machine as functions: plan, extract, part, run and gather."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from audit.database import opened
from audit.engine.prices import read_prices
from audit.engine.quality import quality_notes
from audit.load import provenance
from audit.options import (
    Limits,
    Planned,
    Reading,
    Sources,
    TaskLimits,
    document_options,
    read_options,
)
from audit.output import filters
from audit.output.result import Result
from audit.progress import Progress
from audit.study.fetch import local_files

if TYPE_CHECKING:
    from typing import Unpack

    from audit.parameters import LimitOptions, PlanOptions, TaskOptions


@document_options(Reading, Planned)
def plan(
    sources: Sources,
    out: str | Path,
    parts: int,
    **options: "Unpack[PlanOptions]",
) -> Result:
    """Plan a run past one machine, which workers share as a folder: a row per source file.

    It takes what `load` and `replay` take, checks it and writes the manifest; nothing is read yet.

    out: the run's folder, which every worker sees under the same name
    parts: into how many parts the problems go
    """
    from audit.scale.plan import plan as write

    reading, settings = read_options(options, Reading, Planned)
    asked: dict[str, Any] = {**settings, "prices": read_prices(settings.get("prices", ""))}
    if "problems" in settings:
        asked["problems"] = filters.read_problems(Path(settings["problems"]))
    manifest = write(local_files(sources), Path(out), parts, reading=reading, settings=asked)
    size = sum(file.bytes for file in manifest.files)
    caption = (
        f"{len(manifest.files):,} file(s), {size:,} bytes, {len(manifest.extracts):,} extract(s), "
        f"{parts:,} part(s) in {out}"
    )
    rows = {
        "extract": pa.array(
            [number for number, read in enumerate(manifest.extracts) for _ in read], pa.int64()
        ),
        "file": pa.array([file.shown_name for file in manifest.files], pa.string()),
        "bytes": pa.array([file.bytes for file in manifest.files], pa.int64()),
    }
    notes = [f"note: left out: {reason}" for reason in manifest.skipped]
    return Result(pa.table(rows), caption=caption, notes=notes)


@document_options(TaskLimits)
def extract(
    folder: str | Path,
    number: int | None = None,
    **options: "Unpack[TaskOptions]",
) -> Result:
    """Do one extract of a run, or all that are missing: a row per extract.

    An extract reads one source file, or several small ones. After the last one, what the parts
    share is numbered.

    number: the extract, counted from 0 (default: every one that is missing)
    """
    from audit.scale.extract import extract as read
    from audit.scale.folders import missing
    from audit.scale.keys import number_keys
    from audit.scale.plan import read_manifest

    limits = read_options(options, TaskLimits)
    run = Path(folder)
    manifest = read_manifest(run)
    numbers = [number] if number is not None else []
    if number is None:
        numbers = missing(run, "attempts", len(manifest.extracts), manifest.id)
    rows = [read(run, n, limits) for n in numbers]
    if number is None:
        number_keys(run, limits)
    columns = {"number": pa.array(numbers, pa.int64()), "attempts": pa.array(rows, pa.int64())}
    caption = f"{sum(rows):,} attempts of {len(numbers):,} extract(s) in {folder}"
    return Result(pa.table(columns), caption=caption)


@document_options(TaskLimits)
def part(
    folder: str | Path,
    number: int,
    **options: "Unpack[TaskOptions]",
) -> Result:
    """Make one part of a run, unless it is there, and say how many banks it has walked.

    number: the part, counted from 0
    """
    from audit.scale.part import part as make

    limits = read_options(options, TaskLimits)
    banks = make(Path(folder), number, limits)
    done = f"{banks:,} banks" if banks else "nothing to do"
    return Result(pa.table({"part": [number], "banks": [banks]}), caption=f"part {number}: {done}")


@document_options(TaskLimits)
def run(
    folder: str | Path,
    *,
    on: Literal["local", "spark", "ray"] = "local",
    workers: int = 2,
    master: str | None = None,
    remote: str | None = None,
    address: str | None = None,
    progress: Progress | None = None,
    **options: "Unpack[TaskOptions]",
) -> Result:
    """Run the remaining tasks of a run: a row for extracts and one for parts.

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

    limits = read_options(options, TaskLimits)
    where = Where(workers, master, remote, address)
    extracts, parts = execute(Path(folder), on, limits, where, progress)
    caption = f"{extracts:,} extract(s) and {parts:,} part(s) made in {folder}"
    rows = {"task": ["extract", "part"], "done": [extracts, parts]}
    return Result(pa.table(rows), caption=caption)


@document_options(Limits)
def gather(
    folder: str | Path,
    db: str | Path,
    **options: "Unpack[LimitOptions]",
) -> Result:
    """Check every part of a run, make one new database of them, and return the settings used.

    db: the database, a file that is not there yet
    """
    from audit.scale.gather import gather as collect

    limits = read_options(options, Limits)
    gathered = collect(Path(folder), Path(db), limits=limits)
    with opened(db, **asdict(limits)) as con:
        used = con.sql("from settings order by key").to_arrow_table()
        notes = provenance.load_notes(con, gathered.notes)
        told = [*quality_notes(con), *quality_notes(con, moment="replay")]
        notes += [provenance.replayed_note(con) or "", *dict.fromkeys(told)]
    notes.append("a run keeps no texts: what needs them says so")
    caption = f"{gathered.replays:,} replays of {gathered.banks:,} banks in {db}"
    return Result(used, caption=caption, notes=notes)
