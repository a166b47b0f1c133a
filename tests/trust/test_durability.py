"""Nothing is lost by kills, Ctrl-C, a full disk, little memory, two at once (threat model, d)."""

import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest

import audit
from audit import database
from audit.cli import main
from audit.database.schema import SCHEMA_VERSION
from audit.errors import AuditError
from tests.soak._server import ROOT, serving
from tests.soak.crashes import REPLAY, disturb_often, files, leftovers, prepare, state
from tests.soak.disks import cannot_mount, copied, fill_disk, kilobytes_of, small_disk
from tests.support.command import parameters, read_streams
from tests.support.databases import small_database

# Every command that opens a database, with what else it must be given.
COMMANDS = {
    "answers": ("--answer", "boxed"),
    "card": ("--out", "card.json"),
    "check": (),
    "compare": (),
    "export": ("--out", "out"),
    "figure": ("budget_curve", "--out", "figure.svg"),
    "leave": ("--exit", "agreement"),
    "load": ("../first", "--replace"),
    "query": ("select 1",),
    "replay": REPLAY[1:],
    "report": ("--out", "out"),
    "schema": (),
    "show": ("--archive", "a", "--competition", "C", "--question", "0"),
    "table": ("main",),
    "timeline": (),
    "tokenize": ("--all",),
}
# They take no --memory: they read little.
WITHOUT_MEMORY = {"figure", "schema", "show", "timeline"}
OLD_DUCKDB = os.environ.get("BUDGET_AUDIT_DUCKDB_1_4")


@pytest.fixture(scope="module")
def server():
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def folders(server, tmp_path_factory):
    """Folders with a database each: loaded, replayed, tokenized."""
    return prepare(server, tmp_path_factory.mktemp("durable"))


@pytest.fixture
def folder(folders):
    """A replayed and tokenized database to spoil."""
    with copied(folders["tokenized"]) as copy:
        yield copy


@pytest.fixture
def small(tmp_path):
    """A folder with a small replayed database, beside what it was loaded from."""
    folder, first = tmp_path / "small", tmp_path / "first"
    first.mkdir()
    with small_database(folder):
        pass
    (folder / "small.duckdb").rename(folder / "audit.duckdb")
    (folder / "small.parquet").rename(first / "small.parquet")
    return folder


def refused(server, folder, arguments):
    """The one line with which a command ends."""
    status, _, said = server.run(folder, arguments)
    assert status == 2, (arguments, status, said)
    assert said.startswith("error: ") and said.count("\n") == 1, said
    return said


# Crashes and Ctrl-C


@pytest.mark.slow
def test_a_kill_leaves_the_old_state_or_the_new_one_and_the_next_run_is_undisturbed(
    server, folders
):
    times = {"load": 2, "load --replace": 2, "replay": 2, "replay again": 2, "tokenize": 1,
             "export": 1}  # fmt: skip
    met, said = disturb_often(server, folders, random.randrange(2**32), times, signal.SIGKILL)
    assert met, said


@pytest.mark.slow
def test_ctrl_c_leaves_no_temporary_file_and_no_traceback(server, folders):
    times = {"load --replace": 2, "replay again": 1, "tokenize": 1, "export to parquet": 1}
    met, said = disturb_often(server, folders, random.randrange(2**32), times, signal.SIGINT)
    assert met, said


@pytest.fixture
def ended():
    """The number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_what_a_killed_run_has_left_is_removed_by_the_next_that_writes(small, ended):
    folder = small
    (folder / f".audit.duckdb.{ended}.part").write_bytes(b"x")
    spilled = folder / "audit.duckdb.tmp"
    spilled.mkdir()
    for name in ("owner", "storage_DEFAULT-0.tmp"):
        (spilled / f"duckdb_temp_{ended}_0_{name}").write_bytes(b"x")
    alive = spilled / f"duckdb_temp_{os.getppid()}_0_owner"
    alive.write_bytes(b"x")
    database.connect(folder / "audit.duckdb").close()
    assert list(spilled.iterdir()) == [alive]
    alive.unlink()
    database.connect(folder / "audit.duckdb").close()
    assert not leftovers(folder)


# A full disk and little memory


@pytest.fixture(scope="module")
def disks():
    """Skips where no small disk can be mounted."""
    if reason := cannot_mount():
        pytest.skip(reason)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "command", "sizes"),
    [
        ("new", "load", (4, 8, 12, 24, 4000)),
        ("replayed", "load", (0, 60, 8000)),
        ("replayed", "replay", (0, 60, 8000)),
        ("replayed", "tokenize", (0, 60, 8000)),
    ],
)
def test_a_full_disk_leaves_the_database_as_it_was(disks, server, folders, before, command, sizes):
    used = kilobytes_of(folders[before])
    arguments = (command, *COMMANDS[command])
    tried = [fill_disk(server, folders[before], arguments, used + free) for free in sizes]
    statuses, ends = zip(*tried, strict=True)
    assert statuses[0] == 2 and statuses[-1] == 0, statuses
    assert all(end == ends[0] for end in ends)


@pytest.mark.slow
@pytest.mark.parametrize("command", ("export", "report"))
def test_an_output_on_a_full_disk_is_whole_or_not_there(disks, server, folder, command):
    out = folder / "out"
    assert server.run(folder, ("export", "--out", "out"))[0] == 0
    complete = {Path(name).name: content for name, content in files(folder).items()}
    shutil.rmtree(out)
    out.mkdir()
    form = ("--format", "csv") if command == "report" else ()
    with small_disk(out, 12):
        said = refused(server, folder, (command, "--out", "out", *form))
        assert "cannot write" in said and "No space left on device" in said
        assert not leftovers(folder)
        written = files(folder)
        assert 0 < len(written) < len(complete)
        for name, content in written.items():
            assert content == complete[Path(name).name], name


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(set(COMMANDS) - WITHOUT_MEMORY))
def test_too_little_memory_is_told_in_one_line(server, folder, command):
    before = state(folder / "audit.duckdb")
    for memory in ("1KB", "1MB"):
        said = refused(server, folder, (command, *COMMANDS[command], "--memory", memory))
        assert "raise --memory" in said
        assert not leftovers(folder)
    assert state(folder / "audit.duckdb") == before


# Two at once


def test_whoever_comes_second_is_told_who_holds_the_database(small):
    folder, before = small, state(small / "audit.duckdb")
    replay = [sys.executable, "-m", "audit", "replay", "--orders", "100000"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    writer = subprocess.Popen(replay, cwd=folder, env=environment)
    try:
        wait_until_open(writer, folder / "audit.duckdb")
        writer.send_signal(signal.SIGSTOP)
        holder = f"in use by process {writer.pid} ("
        for command, arguments in COMMANDS.items():
            assert holder in read_streams(folder, command, *arguments, status=2).err, command
    finally:
        writer.kill()
        writer.wait()
    assert state(folder / "audit.duckdb") == before


def wait_until_open(process, db):
    """Wait until a process has a file open, and a little longer: the lock comes after that."""
    deadline = time.monotonic() + 120
    held = set()
    while db not in held:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
        # A file that is closed while they are listed has no name any more.
        with suppress(FileNotFoundError):
            held = {path.readlink() for path in Path(f"/proc/{process.pid}/fd").iterdir()}
    time.sleep(1)


# Versions


def test_every_command_that_opens_a_database_is_tried_here():
    with_database = {
        name
        for name in main.commands
        if any(parameter.name == "db" for parameter in parameters(name))
    }
    # `gather` makes its database from the files of a run, and `tables` opens none.
    assert with_database - {"gather", "tables"} == set(COMMANDS)


def set_version(db, version):
    with duckdb.connect(str(db)) as con:
        con.execute("update meta set value = ? where key = 'schema_version'", [version])


def make_foreign(db):
    db.unlink()
    with duckdb.connect(str(db)) as con:
        con.execute("create table customers as select 1 as id")


def set_storage_version(db):
    """Write another storage version into the header, and the header's checksum."""
    content = db.read_bytes()
    header = bytearray(content[8:4096])
    struct.pack_into("<Q", header, 4, 500)
    checksum = 5381
    for (word,) in struct.iter_unpack("<Q", header):
        checksum ^= word * 0xBF58476D1CE4E5B9 % 2**64
    db.write_bytes(struct.pack("<Q", checksum) + header + content[4096:])


NEWER = str(SCHEMA_VERSION + 1)
VERSIONS = {
    "older": (
        lambda db: set_version(db, "0"),
        f"an older budget-audit (schema version 0, this one reads {SCHEMA_VERSION}); load the",
    ),
    "newer": (
        lambda db: set_version(db, NEWER),
        f"a newer budget-audit (schema version {NEWER}, this one reads {SCHEMA_VERSION}); use that",
    ),
    "foreign": (make_foreign, "of another program (customers); choose another --db"),
    "newer DuckDB": (set_storage_version, "newer DuckDB than this one"),
    "empty": (lambda db: db.write_bytes(b""), "not a DuckDB database; choose another --db"),
    "cut off": (lambda db: db.write_bytes(db.read_bytes()[:4096]), "cannot be opened"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", VERSIONS)
def test_a_database_of_another_version_or_program_is_refused_by_every_command(server, folder, kind):
    spoil, part = VERSIONS[kind]
    db = folder / "audit.duckdb"
    spoil(db)
    before = db.read_bytes()
    # They open a database in one place: one kind is tried with all of them.
    for command in COMMANDS if kind == "newer" else ("load", "query", "check"):
        line = refused(server, folder, (command, *COMMANDS[command]))
        assert line.startswith("error: audit.duckdb: ") and part in line, line
    for use in (
        lambda: audit.connect(db),
        lambda: audit.connect(db, read_only=True),
        lambda: audit.table(db, "main"),
        lambda: audit.query(db, "select 1"),
        lambda: audit.replay(db),
        lambda: audit.load(db, folder.with_name("first")),
    ):
        with pytest.raises(AuditError) as caught:
            use()
        assert part in str(caught.value) and str(db) in str(caught.value)
    assert db.read_bytes() == before
    assert not leftovers(folder)


def test_a_database_without_content_is_no_error_to_load_into(small):
    (small / "audit.duckdb").unlink()
    audit.connect(small / "audit.duckdb").close()
    for arguments in (("query", "select 1"), ("replay",)):
        assert "holds no attempts; load some" in read_streams(small, *arguments, status=2).err
    read_streams(small, "load", "../first", "--force")


# Run by this DuckDB and by an old one: every relation, and a digest of its rows.
READ_ALL = """
import duckdb, hashlib, sys
with duckdb.connect(sys.argv[1], read_only=True) as con:
    names = con.execute(
        "select table_name from information_schema.tables order by table_name"
    ).fetchall()
    for (name,) in names:
        rows = sorted(map(repr, con.execute(f'from "{name}"').fetchall()))
        print(name, len(rows), hashlib.sha256("\\n".join(rows).encode()).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.skipif(
    OLD_DUCKDB is None, reason="BUDGET_AUDIT_DUCKDB_1_4 names no Python that has DuckDB 1.4"
)
def test_duckdb_1_4_reads_every_relation(folder):
    version = [OLD_DUCKDB, "-c", "import duckdb; print(duckdb.__version__)"]
    found = subprocess.run(version, capture_output=True, text=True, check=True).stdout
    assert found.startswith("1.4."), found
    old, new = (
        subprocess.run(
            [python, "-c", READ_ALL, str(folder / "audit.duckdb")],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for python in (OLD_DUCKDB, sys.executable)
    )
    assert old == new
    read = {line.split()[0] for line in old.splitlines()}
    assert {"attempts", "grades", "orders", "prefixes", "replays", "selections"} <= read
    assert read == set(state(folder / "audit.duckdb"))
