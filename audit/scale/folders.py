"""The folders of a run: each appears whole, with a receipt of what is in it, or not at all."""

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
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

import duckdb

from audit import database
from audit.database.connection import two_thirds
from audit.database.leftovers import is_running
from audit.engine.settings import check, typed
from audit.errors import AuditError, first_line
from audit.options import Settings, TaskLimits
from audit.text import literal

RECEIPT = "receipt.json"
ABANDONED_SECONDS = 24 * 3600
# The folders of tasks, and what each holds.
TASK_FOLDERS = {"attempts": "file", "parts": "part"}
# Digits of a number that 64 bits hold in any case.
LONGEST_NUMBER = 18


def folder_of(run: Path, kind: str, number: int) -> Path:
    """The folder of one extracted file or one part."""
    return run / kind / f"{number:05d}"


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """A folder under a name of this attempt, which takes the target's name once it is whole.

    Engines run a task at least once, and sometimes twice at a time: the first that is whole stays.
    """
    host = re.sub(r"\W", "-", platform.node())
    attempt = f".{target.name}.{host}-{os.getpid()}-{secrets.token_hex(4)}"
    partial = target.with_name(attempt)
    try:
        partial.mkdir(parents=True)
        yield partial
        _sync(partial)
        # Renaming onto a folder that is not empty fails: another attempt was first.
        with contextlib.suppress(OSError):
            partial.rename(target)
        if not (target / RECEIPT).exists():
            raise AuditError(f"{target}: cannot be made; is something else in its place?")
    except OSError as error:
        raise AuditError(f"{target}: cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def refuse_links(run: Path) -> None:
    """Refuse a run folder that holds a link: it would have files of another place read."""
    for place in (run, *run.rglob("*")):
        if place.is_symlink():
            raise AuditError(f"{place}: is a link, which no run holds; remove it")


def remove_abandoned(run: Path) -> None:
    """Remove what killed tasks have left, but nothing that somebody may be writing.

    A folder names the machine and process that write it. One of another machine is left alone for
    a day: whether its process lives cannot be seen from here.
    """
    here = re.sub(r"\W", "-", platform.node())
    for kind in TASK_FOLDERS:
        for partial in (run / kind).glob(".[0-9]*.*"):
            written = re.fullmatch(r"\.\d+\.(.*)-(\d+)-[0-9a-f]+", partial.name)
            if written is None:
                continue
            if written[1] == here:
                is_dead = not is_running(written[2])
            else:
                is_dead = _age(partial) > ABANDONED_SECONDS
            if is_dead:
                shutil.rmtree(partial, ignore_errors=True)


def _age(folder: Path) -> float:
    """The seconds since a folder was written to; none where it is gone."""
    with contextlib.suppress(OSError):
        return time.time() - folder.stat().st_mtime
    return 0.0


def _sync(folder: Path) -> None:
    """Have the files on the disk before their folder gets its name."""
    for path in folder.iterdir():
        with open(path, "rb") as stream:
            os.fsync(stream.fileno())


def write_receipt(folder: Path, content: Mapping[str, Any], rows: Mapping[str, int]) -> None:
    """Write what a folder holds: the rows, bytes and hash of each Parquet file."""
    files = {
        name: {
            "rows": count,
            "bytes": (folder / f"{name}.parquet").stat().st_size,
            "sha256": sha256(folder / f"{name}.parquet"),
        }
        for name, count in rows.items()
    }
    text = json.dumps({**content, "files": files}, indent=2, sort_keys=True)
    (folder / RECEIPT).write_text(text, encoding="utf-8")


def sha256(path: Path) -> str:
    """The hash of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


# What the receipts of extracted files, of parts and of the keys say, beside the files they name.
RECEIPTS: dict[str, dict[str, Any]] = {
    "attempts": {
        "manifest": str,
        "number": int,
        "source": Mapping[str, object] | None,
        "skipped": str | None,
        "names": tuple[tuple[str, str, int], ...],
    },
    "parts": {"manifest": str, "keys": str, "number": int, "banks": int},
    "keys": {
        "manifest": str,
        "settings": Mapping[str, object],
        "notes": tuple[str, ...],
        "left_out": tuple[tuple[str, int, int], ...],
    },
}
# What they say of a source file, and of a Parquet file.
SOURCE = {"name": str, "format": str, "bytes": int, "sha256": str, "mapping": str,
          "simulated": bool, "notes": tuple[str, ...]}  # fmt: skip
FILE = {"rows": int, "bytes": int, "sha256": str}


def _require(what: str, fields: Mapping[str, Any], content: Any) -> None:
    """Refuse what does not have these fields with values of these types."""
    typed(make_dataclass(what, fields.items()), content)


def read_receipt(folder: Path) -> dict[str, Any] | None:
    """The receipt of a folder, or None where there is none; one that says anything is refused."""
    try:
        text = (folder / RECEIPT).read_text(encoding="utf-8")
        receipt = json.loads(text, parse_int=_whole_number)
        said = RECEIPTS.get(folder.parent.name, RECEIPTS["keys"])
        _require("a receipt", {**said, "files": Mapping[str, object]}, receipt)
        for written in receipt["files"].values():
            _require("a file", FILE, written)
        if receipt.get("source"):
            _require("a source", SOURCE, receipt["source"])
        if "settings" in receipt:
            check(typed(Settings, receipt["settings"]))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, AuditError) as error:
        raise AuditError(f"{folder / RECEIPT}: is damaged: {first_line(error)}") from None
    content: dict[str, Any] = receipt
    return content


def _whole_number(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError(f"a number of {len(digits):,} digits")
    return int(digits)


def own_receipt(folder: Path, manifest: str) -> dict[str, Any] | None:
    """The receipt of a folder of this plan, or None where it is not there; others are refused."""
    receipt = read_receipt(folder)
    if receipt is None and folder.exists():
        raise AuditError(f"{folder}: has no {RECEIPT}; remove the folder and run it again")
    if receipt is not None and receipt["manifest"] != manifest:
        raise AuditError(f"{folder}: was made by another plan; remove it and run it again")
    return receipt


def missing(run: Path, kind: str, count: int, manifest: str) -> list[int]:
    """The extracted files or the parts of a run that are not there yet."""
    numbers = range(count)
    return [n for n in numbers if own_receipt(folder_of(run, kind, n), manifest) is None]


def whole_receipts(run: Path, kind: str, count: int, manifest: str) -> list[dict[str, Any]]:
    """The receipts of all extracted files or parts; one missing, swapped or damaged is named."""
    receipts = []
    for number in range(count):
        folder = folder_of(run, kind, number)
        receipt = read_receipt(folder)
        if receipt is None or (receipt["manifest"], receipt["number"]) != (manifest, number):
            raise AuditError(
                f"{folder}: does not hold {TASK_FOLDERS[kind]} {number} of this run; run it again"
            )
        check_files(folder, receipt)
        receipts.append(receipt)
    return receipts


def check_files(folder: Path, receipt: Mapping[str, Any]) -> None:
    """Refuse a folder in which a file is missing or is not the one of the receipt."""
    if unlisted := {path.stem for path in folder.glob("*.parquet")} - set(receipt["files"]):
        raise AuditError(
            f"{folder}: its {RECEIPT} does not name {min(unlisted)}.parquet; remove {folder} and "
            "run it again"
        )
    for name, written in receipt["files"].items():
        path = folder / f"{name}.parquet"
        if not path.is_file():
            raise AuditError(f"{path}: is missing; remove {folder} and run it again")
        if path.stat().st_size != written["bytes"] or sha256(path) != written["sha256"]:
            raise AuditError(
                f"{path}: is damaged: it is not the file of its receipt; remove {folder} and run "
                "it again"
            )


def parquet(paths: Sequence[Path]) -> str:
    """Parquet files as a relation in SQL."""
    literals = ", ".join(literal(str(path)) for path in paths)
    return f"read_parquet([{literals}])"


def keys_file(run: Path, name: str) -> str:
    """One of the files that all parts share, as a relation in SQL."""
    return parquet([run / "keys" / f"{name}.parquet"])


@contextmanager
def working(limits: TaskLimits) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory with the task's own threads, memory and scratch folder."""
    try:
        scratch = tempfile.TemporaryDirectory(prefix="budget-audit-", dir=limits.scratch)
    except OSError as error:
        raise AuditError(f"--scratch {limits.scratch}: {error.strerror}") from None
    with (
        scratch as folder,
        # What Python and Arrow hold is not counted by DuckDB.
        database.connect(
            ":memory:", threads=limits.threads, memory=two_thirds(limits.memory)
        ) as con,
    ):
        con.execute(f"set temp_directory = {literal(folder)}")
        con.execute("set preserve_insertion_order = false")
        # In a process that another one has spawned, DuckDB takes itself to be watched.
        con.execute("set enable_progress_bar = false")
        yield con
