"""One source file becomes rows without texts, sorted by problem, for the parts to read."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit.database import insert
from audit.engine import render
from audit.errors import AuditError
from audit.load.load import file_facts, hashing, source_notes
from audit.load.staging import INCOMING, Staging, read
from audit.options import TaskLimits
from audit.scale.folders import appearing, folder_of, own_receipt, working, write_receipt
from audit.scale.plan import same_plan
from audit.sources.files import Source
from audit.sources.opening import unreadable
from audit.text import literal

# Rows that a reader takes or skips together.
ROW_GROUP = 4096
# What an extract keeps: the rows of a load, each with its place among those of its file.
EXTRACTED = INCOMING.append(pa.field("place", pa.int64()))


def extract(run: Path, number: int, limits: TaskLimits) -> int:
    """Read one file with the ordinary readers and write its attempts; say how many there are."""
    manifest = same_plan(run)
    if not 0 <= number < len(manifest.files):
        raise AuditError(f"{run}: has no file {number}; they are 0 to {len(manifest.files) - 1}")
    if own_receipt(folder_of(run, "attempts", number), manifest.id):
        return 0
    file = manifest.files[number]
    try:
        size = file.path.stat().st_size
    except OSError as error:
        raise AuditError(f"{file.path}: cannot be read: {error.strerror}") from None
    if size != file.bytes:
        raise AuditError(f"{file.path}: has changed since the run was planned; plan it again")
    # Runs of one task are separated later, when all files are known.
    reading = replace(manifest.reading, runs=None)
    skipped = unreadable(file, reading) if reading.skip_unreadable else None
    files = [file] if skipped is None else []
    staging = Staging(files, reading)
    with (
        appearing(folder_of(run, "attempts", number)) as folder,
        working(limits) as con,
        hashing(files) as sha256,
    ):
        _read_into(con, staging)
        con.execute("update incoming set file = ?", [number])
        con.execute("set preserve_insertion_order = true")
        selects = {
            "attempts": "from incoming order by competition, question_id, archive, seed, row",
            "banks": f"{render('bank_counts')} order by competition, question_id, archive",
        }
        rows = {}
        for name, select in selects.items():
            path = literal(str(folder / f"{name}.parquet"))
            rows[name] = con.execute(
                f"copy ({select}) to {path} "
                f"(format parquet, compression zstd, row_group_size {ROW_GROUP})"
            ).fetchall()[0][0]
        content = {
            "manifest": manifest.id,
            "number": number,
            "source": None if skipped else _source(staging.opened[0], sha256(file)),
            "skipped": skipped,
            "names": [[*key, at] for key, at in staging.numbering.items()],
        }
        write_receipt(folder, content, rows)
    return rows["attempts"]


def _read_into(con: duckdb.DuckDBPyConnection, staging: Staging) -> None:
    """Make `incoming` of a file's rows."""
    insert(con, "create table incoming as", EXTRACTED.empty_table())
    before = 0
    for batch in read(staging):
        place = pa.array(range(before, before + batch.rows.num_rows), pa.int64())
        rows = [*batch.rows.columns, place]
        insert(con, "insert into incoming", pa.Table.from_arrays(rows, schema=EXTRACTED))
        before += batch.rows.num_rows


def _source(source: Source, sha256: str) -> dict[str, Any]:
    """The row of `sources` for a file, and the notes to report."""
    return {**file_facts(source, sha256), "notes": source_notes(source)}
