"""Files that appear whole or not at all, whatever ends the writing."""

import contextlib
import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from audit.errors import AuditError


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary name to write to; at the end it replaces the file (threat model, d)."""
    try:
        with temporary(path) as partial:
            yield partial
            partial.replace(path)
    except OSError as error:
        raise AuditError(f"cannot write {path}: {error.strerror or error}") from None


@contextmanager
def temporary(path: Path) -> Iterator[Path]:
    """Yield a name beside the file, removed in the end; those of killed runs are removed first."""
    remove_leftovers(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield partial
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def remove_leftovers(path: Path) -> None:
    """Remove what killed runs have left under temporary names of this file."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        if not is_running(leftover.name.split(".")[-2]):
            leftover.unlink(missing_ok=True)


def is_running(pid: str) -> bool:
    """Return whether a process runs; where that cannot be asked, every one does."""
    if os.name != "posix" or not pid.isdecimal():
        return True
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
