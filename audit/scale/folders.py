"""The folders of a run, each written under a temporary name and renamed when it is whole."""

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

from audit import database
from audit.errors import AuditError
from audit.options import TaskLimits
from audit.scale.plan import Manifest
from audit.text import first_names, literal

RECEIPT = "receipt.json"
ABANDONED_SECONDS = 24 * 3600
NAMES_SHOWN = 10
# The folder in a run that holds the results of each kind of task.
FOLDERS = {"extract": "attempts", "part": "parts"}


def locate_folder(run: Path, kind: str, number: int = 0) -> Path:
    """Return the path of the folder of an extract, a part or the keys."""
    return run / FOLDERS[kind] / f"{number:05d}" if kind in FOLDERS else run / kind


@contextmanager
def create_folder(
    run: Path, manifest: Manifest, kind: str, number: int = 0
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield a temporary folder and its receipt to fill; rename the folder once it is whole (d).

    Engines run a task at least once, and sometimes twice at a time: the first whole folder stays.
    """
    target = locate_folder(run, kind, number)
    partial = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    receipt: dict[str, Any] = {"made_by": [manifest.id, kind, number]}
    try:
        partial.mkdir(parents=True)
        yield partial, receipt
        files = {path.stem: hash_file(path) for path in partial.glob("*.parquet")}
        text = json.dumps({**receipt, "files": files}, indent=2, sort_keys=True)
        (partial / RECEIPT).write_text(text, encoding="utf-8")
        for path in partial.iterdir():
            with open(path, "rb") as stream:
                os.fsync(stream.fileno())
        try:
            partial.rename(target)
        except OSError:
            # Renaming onto a folder that is not empty fails: another attempt was first.
            if not (target / RECEIPT).exists():
                raise
    except OSError as error:
        raise AuditError(f"{target}: cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def remove_abandoned(run: Path) -> None:
    """Remove temporary folders older than a day; killed tasks have left them."""
    for partial in (*run.glob(".keys.*"), *run.glob("*/.[0-9]*.*")):
        with contextlib.suppress(OSError):
            if time.time() - partial.stat().st_mtime > ABANDONED_SECONDS:
                shutil.rmtree(partial, ignore_errors=True)


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_receipt(
    run: Path, manifest: Manifest, kind: str, number: int = 0
) -> dict[str, Any] | None:
    """Return a folder's receipt, or None without a folder; refuse the receipt of another plan."""
    folder = locate_folder(run, kind, number)
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


def list_missing(run: Path, manifest: Manifest, kind: str) -> list[int]:
    """Return the numbers of the extracts or parts that have not been made yet."""
    return [n for n in range(manifest.count(kind)) if not read_receipt(run, manifest, kind, n)]


def check_folders(run: Path, manifest: Manifest, kind: str) -> list[dict[str, Any]]:
    """Return the receipts of all extracts or parts; refuse missing folders and damaged files."""
    if waiting := list_missing(run, manifest, kind):
        names = first_names([*map(str, waiting)], NAMES_SHOWN)
        raise AuditError(
            f"{run}: {len(waiting):,} of {manifest.count(kind):,} {kind}s are missing: {names}; "
            f"run 'budget-audit run {run}' again, or 'budget-audit {kind} {run} {waiting[0]}'"
        )
    return [check_folder(run, manifest, kind, n) for n in range(manifest.count(kind))]


def check_folder(run: Path, manifest: Manifest, kind: str, number: int = 0) -> dict[str, Any]:
    """Return a folder's receipt; refuse a file that is missing or has another hash."""
    folder = locate_folder(run, kind, number)
    receipt = read_receipt(run, manifest, kind, number) or {}
    for name, digest in receipt["files"].items():
        path = folder / f"{name}.parquet"
        if not path.is_file() or hash_file(path) != digest:
            state = "is damaged" if path.is_file() else "is missing"
            raise AuditError(f"{path}: {state}; remove {folder} and run it again")
    return receipt


def read_parquet(paths: Sequence[Path], more: str = "") -> str:
    """Return the SQL call that reads Parquet files as one relation."""
    literals = ", ".join(literal(str(path)) for path in paths)
    return f"read_parquet([{literals}]{more})"


@contextmanager
def open_memory(limits: TaskLimits) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory with a task's threads, memory limit and scratch folder."""
    try:
        scratch = tempfile.TemporaryDirectory(prefix="budget-audit-", dir=limits.scratch)
    except OSError as error:
        raise AuditError(f"--scratch {limits.scratch}: {error.strerror}") from None
    threads, memory = limits.threads, limits.memory
    with scratch as folder, database.connect(":memory:", threads=threads, memory=memory) as con:
        con.execute(f"set temp_directory = {literal(folder)}")
        con.execute("set preserve_insertion_order = false")
        yield con
