"""Source files become rows without texts, sorted by problem, for the parts to read."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa

from audit.database import insert
from audit.engine import render
from audit.engine.batches import batches
from audit.errors import AuditError
from audit.load.load import file_facts, hashing, source_notes
from audit.load.names import MET
from audit.load.staging import INCOMING, Staging, read
from audit.options import Reading, TaskLimits
from audit.scale.folders import appearing, folder_of, read_receipt, working, write_receipt
from audit.scale.plan import same_plan
from audit.sources.files import SourceFile
from audit.sources.opening import unreadable
from audit.text import literal

# Rows that a reader takes or skips together.
ROW_GROUP = 4096
# Small files are inserted together.
INSERT_ROWS = 20_000
# An extract keeps the rows of a load, each with its place in the order in which it was read.
EXTRACTED = INCOMING.append(pa.field("place", pa.int64()))


def extract(run: Path, number: int, limits: TaskLimits) -> int:
    """Read the files of one extract and write their attempts; return how many there are."""
    manifest = same_plan(run)
    if not 0 <= number < len(manifest.extracts):
        raise AuditError(
            f"{run}: has no extract {number}; they are 0 to {len(manifest.extracts) - 1}"
        )
    if read_receipt(folder_of(run, "attempts", number), manifest.id):
        return 0
    files = {n: manifest.files[n] for n in manifest.extracts[number]}
    for file in files.values():
        _refuse_changed(file)
    # Runs of one task are separated when all files are known.
    reading = replace(manifest.reading, runs=None)
    skipped = _skip_unreadable(files, reading)
    staging = Staging([*files.values()], reading)
    with (
        appearing(folder_of(run, "attempts", number)) as folder,
        working(limits) as con,
        hashing(staging.files) as sha256,
    ):
        _read_into(con, staging, [*files])
        path = literal(str(folder / "attempts.parquet"))
        con.execute("set preserve_insertion_order = true")
        ((rows,),) = con.execute(
            f"copy ({render('extracted_attempts')}) to {path} "
            f"(format parquet, compression zstd, row_group_size {ROW_GROUP})"
        ).fetchall()
        sources = [
            {**file_facts(source, source.file, sha256(source.file)), "notes": source_notes(source)}
            for source in staging.opened
        ]
        content = {
            "manifest": manifest.id,
            "number": number,
            "sources": [[n, source] for n, source in zip(files, sources, strict=True)],
            "skipped": skipped,
        }
        write_receipt(folder, content, {"attempts": rows})
    return rows


def _refuse_changed(file: SourceFile) -> None:
    """Refuse a source file that is not the one of the plan."""
    try:
        size = file.path.stat().st_size
    except OSError as error:
        raise AuditError(f"{file.path}: cannot be read: {error.strerror}") from None
    if size != file.bytes:
        raise AuditError(f"{file.path}: has changed since the run was planned; plan it again")


def _skip_unreadable(files: dict[int, SourceFile], reading: Reading) -> list[str]:
    """Remove unreadable files where that is allowed; return the reasons."""
    reasons = []
    for number, file in [*files.items()] if reading.skip_unreadable else ():
        if reason := unreadable(file, reading):
            reasons.append(reason)
            del files[number]
    return reasons


def _read_into(con: duckdb.DuckDBPyConnection, staging: Staging, numbers: Sequence[int]) -> None:
    """Create `incoming` from the rows of the files, and `names` from those of their problems."""
    insert(con, "create table incoming as", EXTRACTED.empty_table())
    before = 0
    for together in batches(read(staging), lambda batch: (batch.rows.num_rows,), (INSERT_ROWS,)):
        rows = pa.Table.from_batches([batch.rows for batch in together])
        place = pa.array(range(before, before + len(rows)), pa.int64())
        insert(con, "insert into incoming", rows.append_column(EXTRACTED.field("place"), place))
        before += len(rows)
    con.execute("update incoming set file = list_extract(?::integer[], file + 1)", [[*numbers]])
    names = [dict(zip(MET.names, (*key, at), strict=True)) for key, at in staging.numbering.items()]
    insert(con, "create table names as", pa.Table.from_pylist(names, schema=MET))
