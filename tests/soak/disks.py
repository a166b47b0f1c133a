"""Disks of every size and little memory: a command that does not fit leaves things as they were.

It says so in one line, with status 2, and succeeds once there is room. The sizes are spread so that
the room runs out at different moments, up to the commit and the closing of the database.
"""

import contextlib
import itertools
import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.soak._server import serving
from tests.soak.crashes import COMMIT_OFTEN, REPLAY, TOKENIZED, leftovers, prepare, state

NUMBERS = itertools.count()


@contextlib.contextmanager
def copied(before):
    """A copy of a folder, to be spoilt, beside it."""
    copy = before.with_name(f"copy {next(NUMBERS)}")
    shutil.copytree(before, copy)
    yield copy
    shutil.rmtree(copy)


def cannot_mount():
    """Why no small disk can be made here; None where one can."""
    if os.geteuid():
        return "only root may mount a small disk"
    with tempfile.TemporaryDirectory() as folder:
        done = mount(folder, 64)
        subprocess.run(["umount", folder], capture_output=True)
    return f"no small disk: {done.stderr.strip()}" if done.returncode else None


def mount(folder, kilobytes):
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, text=True)


@contextlib.contextmanager
def small_disk(folder, kilobytes):
    """A disk of this size at the folder; what is there goes onto it."""
    content = folder.with_name(f"{folder.name} content")
    folder.rename(content)
    folder.mkdir()
    done = mount(folder, kilobytes)
    assert done.returncode == 0, done.stderr
    try:
        shutil.copytree(content, folder, dirs_exist_ok=True)
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)
        shutil.rmtree(content)


def enlarge(folder):
    """Make room on a small disk."""
    subprocess.run(["mount", "-o", "remount,size=200m", str(folder)], check=True)


def fill_disk(server, before, arguments, kilobytes):
    """Run a command on a disk of some size; its status, and the state of the database in the end.

    Where it does not fit it changes nothing, and it succeeds when there is more room.
    """
    with copied(before) as folder, small_disk(folder, kilobytes):
        status, _, said = server.run(folder, arguments, alter=COMMIT_OFTEN)
        if status:
            assert status == 2 and said.count("\n") == 1 and "the disk is full" in said, said
            assert not leftovers(folder), leftovers(folder)
            found, old = state(folder / "audit.duckdb"), state(before / "audit.duckdb")
            check_unchanged(arguments[0], found, old)
            enlarge(folder)
            again, _, said = server.run(folder, arguments)
            assert again == 0, said
        return status, state(folder / "audit.duckdb")


def check_unchanged(command, found, old):
    """Nothing has changed; but tokenize keeps what it has counted."""
    changed = {name for name in {*found, *old} if found.get(name) != old.get(name)}
    assert changed <= (set(TOKENIZED) if command == "tokenize" else set()), changed


def kilobytes_of(folder):
    """The size of a folder's files."""
    return sum(-(-path.stat().st_size // 4096) * 4 for path in folder.rglob("*") if path.is_file())


def starve(server, before, arguments, memory):
    """Run a command with some memory; its status. Where that is too little it changes nothing."""
    with copied(before) as folder:
        status, _, said = server.run(folder, (*arguments, "--memory", memory))
        if status:
            assert status == 2 and said.count("\n") == 1 and "raise --memory" in said, said
            found, old = (state(one / "audit.duckdb") for one in (folder, before))
            check_unchanged(arguments[0], found, old)
        assert not leftovers(folder), leftovers(folder)
        return status


def soak(seed: int) -> str:
    """Disks and amounts of memory of random size, for every command that writes a database."""
    if reason := cannot_mount():
        return f"nothing tried: {reason}"
    rng = random.Random(seed)
    full = short = 0
    with tempfile.TemporaryDirectory() as name, serving() as server:
        folders = prepare(server, Path(name))
        for at, arguments in (
            ("new", ("load", "../first")),
            ("tokenized", ("load", "../second", "--replace")),
            ("loaded", REPLAY),
            ("replayed", ("tokenize", "--all")),
        ):
            before = folders[at]
            sizes = [kilobytes_of(before) + int(2 ** rng.uniform(0, 13)) for _ in range(12)]
            tried = [fill_disk(server, before, arguments, size) for size in sizes]
            assert all(end == tried[0][1] for _, end in tried), arguments
            full += sum(status == 2 for status, _ in tried)
            amounts = [f"{int(2 ** rng.uniform(8, 15))}KiB" for _ in range(6)]
            short += sum(starve(server, before, arguments, memory) == 2 for memory in amounts)
    return f"48 disks, {full} too small; 24 amounts of memory, {short} too little"
