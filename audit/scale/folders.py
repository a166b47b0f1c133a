"""The folders of a run: each gets its name by a rename when it is whole, with a receipt inside."""

import contextlib
import hashlib
import json
import os
import platform
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from audit import database
from audit.database.connection import two_thirds
from audit.database.leftovers import is_running
from audit.errors import AuditError, first_line
from audit.options import TaskLimits
from audit.text import literal

RECEIPT = "receipt.json"
ABANDONED_SECONDS = 24 * 3600
# The folders of tasks, and what makes one.
TASK_FOLDERS = {"attempts": "extract", "parts": "part"}


def folder_of(run: Path, kind: str, number: int) -> Path:
    """Return the folder of one extract or one part."""
    return run / kind / f"{number:05d}"


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """Yield a temporary folder; rename it to the target once it is whole (threat model, d).

    Engines run a task at least once, and sometimes twice at a time: the first whole folder stays.
    """
    attempt = f".{target.name}.{_host()}-{os.getpid()}-{secrets.token_hex(4)}"
    partial = target.with_name(attempt)
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


def _host() -> str:
    """Return the name of this machine as a folder's name can hold it."""
    return re.sub(r"\W", "-", platform.node())


def remove_abandoned(run: Path) -> None:
    """Remove what killed tasks have left; what another machine writes is kept for a day."""
    for partial in (*run.glob(".keys.*-*"), *run.glob("*/.[0-9]*.*-*")):
        host, process, _ = partial.name.split(".", 2)[2].rsplit("-", 2)
        with contextlib.suppress(OSError):
            age = time.time() - partial.stat().st_mtime
            if not is_running(process) if host == _host() else age > ABANDONED_SECONDS:
                shutil.rmtree(partial, ignore_errors=True)


def write_receipt(folder: Path, content: Mapping[str, Any], rows: Mapping[str, int]) -> None:
    """Write the number of rows and the hash of each Parquet file in a folder."""
    files = {
        name: {"rows": count, "sha256": sha256(folder / f"{name}.parquet")}
        for name, count in rows.items()
    }
    text = json.dumps({**content, "files": files}, indent=2, sort_keys=True)
    (folder / RECEIPT).write_text(text, encoding="utf-8")


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_receipt(folder: Path, manifest: str) -> dict[str, Any] | None:
    """Return the receipt of a folder, or None where there is no folder; refuse another plan's."""
    again = f"remove {folder} and run it again"
    if not folder.exists():
        return None
    try:
        receipt: dict[str, Any] = json.loads((folder / RECEIPT).read_text(encoding="utf-8"))
        made_by = receipt["manifest"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AuditError(f"{folder / RECEIPT}: is damaged: {first_line(error)}; {again}") from None
    if made_by != manifest:
        raise AuditError(f"{folder}: was made by another plan; {again}")
    return receipt


def missing(run: Path, kind: str, count: int, manifest: str) -> list[int]:
    """Return the numbers of the extracts or parts of a run that are not there yet."""
    return [n for n in range(count) if read_receipt(folder_of(run, kind, n), manifest) is None]


def whole_receipts(run: Path, kind: str, count: int, manifest: str) -> list[dict[str, Any]]:
    """Return the receipts of all extracts or parts; name one that is missing or damaged."""
    receipts = []
    for number in range(count):
        folder = folder_of(run, kind, number)
        receipt = read_receipt(folder, manifest)
        if receipt is None or receipt["number"] != number:
            raise AuditError(
                f"{folder}: does not hold {TASK_FOLDERS[kind]} {number} of this run; run it again"
            )
        check_files(folder, receipt)
        receipts.append(receipt)
    return receipts


def check_files(folder: Path, receipt: Mapping[str, Any]) -> None:
    """Refuse a folder in which a file is missing or differs from its receipt."""
    for name, written in receipt["files"].items():
        path = folder / f"{name}.parquet"
        if not path.is_file():
            raise AuditError(f"{path}: is missing; remove {folder} and run it again")
        if sha256(path) != written["sha256"]:
            raise AuditError(
                f"{path}: is damaged: it is not the file of its receipt; remove {folder} and run "
                "it again"
            )


def parquet(paths: Sequence[Path]) -> str:
    """Return Parquet files as a relation in SQL."""
    literals = ", ".join(literal(str(path)) for path in paths)
    return f"read_parquet([{literals}])"


def keys_file(run: Path, name: str) -> str:
    """Return one of the files that all parts share as a relation in SQL."""
    return parquet([run / "keys" / f"{name}.parquet"])


@contextmanager
def working(limits: TaskLimits) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory with the task's own threads, memory and scratch folder."""
    try:
        scratch = tempfile.TemporaryDirectory(prefix="budget-audit-", dir=limits.scratch)
    except OSError as error:
        raise AuditError(f"--scratch {limits.scratch}: {error.strerror}") from None
    with (
        scratch as folder,
        # DuckDB does not count what Python and Arrow hold.
        database.connect(
            ":memory:", threads=limits.threads, memory=two_thirds(limits.memory)
        ) as con,
    ):
        con.execute(f"set temp_directory = {literal(folder)}")
        con.execute("set preserve_insertion_order = false")
        yield con
