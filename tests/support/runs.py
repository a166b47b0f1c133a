"""Runs past one machine for the tests: sources, plans, exports, and tasks that kill themselves."""

import json
import os
import random
import shutil
import signal
import tempfile
from functools import cache
from pathlib import Path
from unittest.mock import patch

from audit import database, engine
from audit.load.load import load
from audit.load.provenance import notes
from audit.options import Reading
from audit.output.export import export
from audit.scale import folders, gather, plan, run, tasks
from audit.scale.tasks import perform
from tests.support.archives import random_archive, write_parquet
from tests.support.databases import SMALL

# What needs texts is not there.
NOT_THERE = {"texts", "token_counts", "prefix_events"}
# Views of relations that are compared; one test compares them too.
DERIVED = {"tallies", "results", "answer_changes", "cost_changes", "problem_draws"}
PARTS = 4
# Tables are computed from relations, which are all compared; one test compares all tables too.
SOME_TABLES = ("main", "policies", "data_quality")
ALL_TABLES = tuple(name for name in engine.list_tables() if name != "prefix_boxes")


def write_sources(folder):
    """Write random archives into three files, each with rows of every archive and problem."""
    rows = random_archive(random.Random(10), costs=(4, 6, 7, 9), empty=0.1)
    random.Random(3).shuffle(rows)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{number}.parquet" for number in range(3)]
    for number, path in enumerate(paths):
        write_parquet(rows[number::3], path)
    return paths


def planned(folder, sources, parts=PARTS, reading=None, **settings):
    """Plan a run of these files, each of which is an extract; return its folder."""
    with patch.object(plan, "EXTRACT_BYTES", 1):
        asked = Reading(**{"force": True, **(reading or {})})
        plan.write_plan([*map(str, sources)], folder, parts, asked, {**SMALL, **settings})
    return folder


def extracted(folder):
    """Extract every file of a run in this process."""
    for number in range(len(plan.read_manifest(folder).extracts)):
        tasks.extract_files(folder, number)
    return folder


def made(folder):
    """Do all of a run in this process."""
    for number in range(plan.read_manifest(extracted(folder)).parts):
        tasks.part(folder, number)
    return folder


@cache
def _shared():
    """Make a folder with sources and a whole run of them, once in a process."""
    # The object is kept by the cache and removes its folder at the end.
    folder = tempfile.TemporaryDirectory(prefix="shared-run-")
    made(planned(Path(folder.name, "run"), write_sources(Path(folder.name, "sources"))))
    return folder


def shared_run():
    """Return a whole run of the shared sources; a test that changes it copies it."""
    return Path(_shared().name, "run")


def shared_sources():
    """Return the files that `write_sources` writes, once for all tests."""
    return sorted(Path(_shared().name, "sources").iterdir())


def done(folder, **options):
    """Do what is missing of a run; return how many extracts and parts that was."""
    return tuple(run.run(folder, **options)["done"].to_pylist())


def exported(path, out, tables=SOME_TABLES, said=()):
    """Return every relation and some tables of a database as CSV, by name, and all notes."""
    with database.open_database(path) as con:
        left_out = NOT_THERE | (set() if tables == ALL_TABLES else DERIVED)
        names = (*tables, *(name for name in engine.PUBLIC_RELATIONS if name not in left_out))
        found = {file.name: file.read_bytes() for file in export(con, out, names)}
        # What stands below every table, and what was said when it was made.
        return found | {"below": notes(con).encode(), "said": "\n".join(sorted(said)).encode()}


def one_machine(folder, sources, reading=None, tables=SOME_TABLES, **settings):
    """Return the CSV files of `load`, `replay` and `export`."""
    folder.mkdir(parents=True, exist_ok=True)
    with database.open_database(folder / "one.duckdb", write=True) as con:
        asked = {"texts": False, "force": True, **(reading or {})}
        said = load(con, [str(path) for path in sources], **asked).notes
        engine.replay(con, **{**SMALL, **settings})
    return exported(folder / "one.duckdb", folder / "csv", tables, said)


def gathered(of, folder, *, tables=SOME_TABLES):
    """Gather a run and return its CSV files."""
    folder.mkdir(parents=True, exist_ok=True)
    gather.gather(of, folder / "gathered.duckdb")
    said = json.loads((of / "keys" / "receipt.json").read_text())["notes"]
    return exported(folder / "gathered.duckdb", folder / "csv", tables, said)


def differing(found, expected):
    """Return the names of the files that are not byte for byte the same."""
    names = sorted(found.keys() | expected.keys())
    return [name for name in names if found.get(name) != expected.get(name)]


def kill_worker_once(task):
    """Perform a task; the first part dies before it is whole, as if out of memory."""
    _kill_in_write(task, os.getpid)
    return perform(task)


def kill_executor_once(task):
    """Perform a task; the first part to write takes Spark's executor JVM with it."""
    _kill_in_write(task, _executor)
    return perform(task)


def _kill_in_write(task, victim):
    """Have the first part kill a process while it writes its walks; whoever is next goes on."""
    if task.kind != "part":
        return
    try:
        marker = Path(task.run, "killed")
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    hash_file = folders.hash_file

    def hash_and_die(path):
        assert (path.parent / "walked.parquet").exists()
        process = victim()
        marker.write_text(str(process))
        os.kill(process, signal.SIGKILL)
        signal.pause()
        return hash_file(path)

    folders.hash_file = hash_and_die


def _executor():
    """Return the process of the executor JVM above this Python process."""
    process = os.getpid()
    while process > 1:
        if b"CoarseGrainedExecutorBackend" in Path(f"/proc/{process}/cmdline").read_bytes():
            return process
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    raise RuntimeError("no executor above this process")


def copy_of(whole, folder):
    """Copy a run, so that a test may spoil it."""
    shutil.copytree(whole, folder)
    return folder
