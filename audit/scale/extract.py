"""Source files become rows without texts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from audit.engine.batches import batches
from audit.errors import AuditError
from audit.load.load import file_facts, hashing, source_notes
from audit.load.schema import INCOMING
from audit.load.staging import Staging, read
from audit.options import TaskLimits, public
from audit.output.result import Result
from audit.scale.folders import appearing, folder_of, missing, read_receipt, write_receipt
from audit.scale.keys import number_keys
from audit.scale.plan import Manifest, read_manifest, same_plan
from audit.sources.files import SourceFile
from audit.sources.opening import unreadable

# Rows that are written together, from however many files.
GROUP_ROWS = 20_000
# An extract keeps the rows of a load; where problems have names, with the name of its own.
EXTRACTED = INCOMING.append(pa.field("problem_name", pa.string()))


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
    manifest = same_plan(run)
    manifest.require("extract", number)
    if read_receipt(run, manifest, "extract", number):
        return 0
    files = {n: manifest.files[n] for n in manifest.extracts[number]}
    skipped = _skip_unreadable(files, manifest)
    # Runs of one task are separated when all files are known.
    staging = Staging([*files.values()], replace(manifest.reading, runs=None))
    with (
        appearing(folder_of(run, "extract", number)) as folder,
        hashing(staging.files) as sha256,
    ):
        path = folder / "attempts.parquet"
        with pq.ParquetWriter(path, EXTRACTED, compression="zstd") as writer:
            for group in batches(_rows(staging, [*files]), lambda b: (len(b),), (GROUP_ROWS,)):
                writer.write_table(pa.Table.from_batches(group))
        sources = [
            {**file_facts(source, source.file, sha256(source.file)), "notes": source_notes(source)}
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
    """Yield the rows of all files, with each file's number in the run, and names of problems."""
    of_run = pa.array(numbers, pa.int32())
    for batch in read(staging):
        columns = dict(zip(INCOMING.names, batch.rows.columns, strict=True))
        columns["file"] = of_run.take(columns["file"])
        # Named problems have provisional numbers from -1 down, in the order in which they are met.
        names = pa.array([name for _, name in staging.numbering], pa.string())
        ids = columns["question_id"].to_numpy()
        columns["problem_name"] = names.take(pa.array(-1 - ids, mask=ids >= 0))
        yield pa.RecordBatch.from_pydict(columns, schema=EXTRACTED)
