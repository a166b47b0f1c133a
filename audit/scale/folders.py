"""The folders of a run: each gets its name by a rename when it is whole, with a receipt inside."""

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from audit import database
from audit.errors import AuditError
from audit.options import TaskLimits
from audit.scale.plan import Manifest
from audit.text import first_names, literal

RECEIPT = "receipt.json"
ABANDONED_SECONDS = 24 * 3600
NAMES_SHOWN = 10
# The folders of tasks.
FOLDERS = {"extract": "attempts", "part": "parts"}


def folder_of(run: Path, kind: str, number: int = 0) -> Path:
    """Return the folder of one extract or one part, or that of the keys."""
    return run / FOLDERS[kind] / f"{number:05d}" if kind in FOLDERS else run / kind


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """Yield a temporary folder; rename it to the target once it is whole (threat model, d).

    Engines run a task at least once, and sometimes twice at a time: the first whole folder stays.
    """
    partial = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        partial.mkdir(parents=True)
        yield partial
        for path in partial.iterdir():
            with open(path, "rb") as stream:
                os.fsync(stream.fileno())
        # Renaming onto a folder that is not empty fails: another attempt was first.
        with contextlib.suppress(OSError):
            partial.rename(target)
        if not (target / RECEIPT).exists():
            raise AuditError(f"{target}: cannot be made; is something else in its place?")
    except OSError as error:
        raise AuditError(f"{target}: cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def remove_abandoned(run: Path) -> None:
    """Remove what killed tasks have left; what was begun within a day may still be written."""
    for partial in (*run.glob(".keys.*"), *run.glob("*/.[0-9]*.*")):
        with contextlib.suppress(OSError):
            if time.time() - partial.stat().st_mtime > ABANDONED_SECONDS:
                shutil.rmtree(partial, ignore_errors=True)


def write_receipt(
    folder: Path, manifest: Manifest, kind: str, number: int = 0, **content: Any
) -> None:
    """Write who made a folder, and the number of rows and the hash of each file in it."""
    files = {
        path.stem: {"rows": pq.read_metadata(path).num_rows, "sha256": sha256(path)}
        for path in sorted(folder.glob("*.parquet"))
    }
    content |= {"made_by": [manifest.id, kind, number], "files": files}
    text = json.dumps(content, indent=2, sort_keys=True)
    (folder / RECEIPT).write_text(text, encoding="utf-8")


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_receipt(
    run: Path, manifest: Manifest, kind: str, number: int = 0
) -> dict[str, Any] | None:
    """Return the receipt of a folder, None where there is no folder; refuse another's."""
    folder = folder_of(run, kind, number)
    if not folder.exists():
        return None
    try:
        receipt: dict[str, Any] = json.loads((folder / RECEIPT).read_text(encoding="utf-8"))
        if receipt["made_by"] == [manifest.id, kind, number]:
            return receipt
    except (OSError, ValueError, KeyError, TypeError):
        pass
    what = f"{kind} {number}" if kind in FOLDERS else f"the {kind}"
    raise AuditError(
        f"{folder}: {RECEIPT} is not that of {what} of this plan; remove {folder} and run it again"
    )


def missing(run: Path, manifest: Manifest, kind: str) -> list[int]:
    """Return the numbers of the extracts or parts of a run that are not there yet."""
    return [n for n in range(manifest.count(kind)) if not read_receipt(run, manifest, kind, n)]


def whole_receipts(run: Path, manifest: Manifest, kind: str) -> list[dict[str, Any]]:
    """Return the receipts of all extracts or parts; name what is missing or damaged."""
    if waiting := missing(run, manifest, kind):
        names = first_names([*map(str, waiting)], NAMES_SHOWN)
        raise AuditError(
            f"{run}: {len(waiting):,} of {manifest.count(kind):,} {kind}s are missing: {names}; "
            f"run 'budget-audit run {run}' again, or 'budget-audit {kind} {run} {waiting[0]}'"
        )
    return [whole_receipt(run, manifest, kind, n) for n in range(manifest.count(kind))]


def whole_receipt(run: Path, manifest: Manifest, kind: str, number: int = 0) -> dict[str, Any]:
    """Return the receipt of a folder; refuse a file that is missing or is not the receipt's."""
    folder, receipt = folder_of(run, kind, number), read_receipt(run, manifest, kind, number) or {}
    for name, written in receipt["files"].items():
        path = folder / f"{name}.parquet"
        if not path.is_file() or sha256(path) != written["sha256"]:
            state = "is damaged" if path.is_file() else "is missing"
            raise AuditError(f"{path}: {state}; remove {folder} and run it again")
    return receipt


def parquet(paths: Sequence[Path], more: str = "") -> str:
    """Return Parquet files as a relation in SQL."""
    literals = ", ".join(literal(str(path)) for path in paths)
    return f"read_parquet([{literals}]{more})"


@contextmanager
def working(limits: TaskLimits) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory with the task's own threads, memory and scratch folder."""
    try:
        scratch = tempfile.TemporaryDirectory(prefix="budget-audit-", dir=limits.scratch)
    except OSError as error:
        raise AuditError(f"--scratch {limits.scratch}: {error.strerror}") from None
    threads, memory = limits.threads, limits.memory
    with scratch as folder, database.connect(":memory:", threads=threads, memory=memory) as con:
        con.execute(f"set temp_directory = {literal(folder)}")
        con.execute("set preserve_insertion_order = false")
        yield con
