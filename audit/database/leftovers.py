"""Write files atomically: under a temporary name first, then renamed."""

import contextlib
import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from audit.errors import AuditError


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; at the end rename it to `path` (threat model, d)."""
    try:
        with temporary_path(path) as partial:
            yield partial
            partial.replace(path)
    except OSError as error:
        raise AuditError(f"cannot write {path}: {error.strerror or error}") from None


@contextmanager
def temporary_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside the file; remove it at the end, old leftovers before."""
    remove_leftovers(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield partial
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def remove_leftovers(path: Path) -> None:
    """Remove the temporary files that killed runs left beside this file."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        if not is_running(leftover.name.split(".")[-2]):
            leftover.unlink(missing_ok=True)


def is_running(pid: str) -> bool:
    """Return whether a process runs; assume that it does where this cannot be checked."""
    if os.name != "posix" or not pid.isdecimal():
        return True
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
