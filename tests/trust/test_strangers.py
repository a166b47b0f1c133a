"""A database or a plug-in of a stranger's: what it may not do, told in one line."""

import atexit
import contextlib
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from audit import api, database, engine
from audit.cli import main
from audit.errors import AuditError
from tests.support.archives import attempt, write_parquet
from tests.support.command import ROOT, told
from tests.support.databases import SMALL, replayed, replayed_in_memory
from tests.support.plugins import FIRST, GRACE

ROWS = [attempt(seed, 10, "4", correct=seed == 1) for seed in range(4)]
COMMANDS = (
    ("replay", "--orders", 1),
    ("tokenize",),
    ("table", "main"),
    ("check",),
    ("query", "select 1"),
)


@functools.cache
def honest():
    """A replayed database, made once; only DuckDB 2.0's own format, which we read too, holds
    triggers."""
    folder = Path(tempfile.mkdtemp(prefix="strangers"))
    atexit.register(shutil.rmtree, folder)
    with replayed(folder, ROWS, "mine"):
        pass
    with duckdb.connect() as con:
        con.execute(f"attach '{folder / 'mine.duckdb'}' as mine (read_only)")
        con.execute(f"attach '{folder / 'honest.duckdb'}' as small (storage_version 'v2.0.0')")
        con.execute("copy from database mine to small")
    return folder / "honest.duckdb"


def tampered(folder, *statements):
    """A copy of it to which a stranger has done something."""
    path = folder / "small.duckdb"
    shutil.copy(honest(), path)
    with duckdb.connect() as con:
        con.execute(f"attach '{path}' as small")
        con.execute("use small")
        for statement in statements:
            con.execute(statement)
    return path


HOSTILE = {
    "a view in a table's place": (
        "create table recorded as from attempts",
        "drop table attempts",
        "create view attempts as from recorded semi join read_text('secret') on true",
    ),
    "a trigger": (
        "create table loot (line varchar)",
        "create trigger spy after insert on meta for each statement insert into loot values ('x')",
    ),
    "a macro in a function's place": ("create macro list_dot_product(a, b) as 42",),
}


@pytest.fixture(scope="module", params=HOSTILE.values(), ids=HOSTILE)
def hostile(request, tmp_path_factory):
    """A database that would run SQL of its own, and a file that it would read; none changes it."""
    path = tampered(tmp_path_factory.mktemp("hostile"), *request.param)
    (path.parent / "secret").write_text("secret")
    return path


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_database_that_would_run_sql_of_its_own_is_refused(hostile, command):
    before = hostile.read_bytes()
    assert "small.duckdb" in told(hostile.parent, *command, "--db", hostile, status=2)[1]
    assert hostile.read_bytes() == before


def test_a_writer_reaches_no_other_file(tmp_path):
    path = tampered(tmp_path)
    (tmp_path / "secret").write_text("secret")
    for row_group in (None, database.REPLAYED_ROW_GROUP):
        with database.opened(path, write=True, row_group=row_group) as con:
            with pytest.raises(duckdb.PermissionException):
                con.execute(f"select * from read_text('{tmp_path / 'secret'}')")
            with pytest.raises(duckdb.Error):
                con.execute("set enable_external_access = true")


def test_a_users_own_macro_beside_duckdbs_functions_is_no_offence(tmp_path):
    path = tampered(tmp_path, "create macro twice(x) as 2 * x", 'create table "my notes" (n int)')
    assert "labels_shuffled" in told(tmp_path, "check", "--db", path)[0]
    assert "8" in told(tmp_path, "query", "select twice(4)", "--db", path)[0]


CHANGED = {
    "no archives": "delete from archives",
    "no budgets": "delete from budgets",
    "a null setting": "update settings set value = null where key = 'caps'",
    "settings of text": "update settings set value = 'x' where key <> 'budgets'",
    "no settings": "delete from settings",
    "no meta": "delete from meta where key <> 'schema_version' and key <> 'replays'",
    "no walks": "delete from walked_attempts",
    "costs below zero": "update walked_attempts set cumulative_cost = -5",
    "a null archive": "update archives set archive = null",
    "no counts": "delete from bootstrap_counts",
}


@pytest.mark.slow
@pytest.mark.parametrize("statement", CHANGED.values(), ids=CHANGED)
def test_a_database_that_something_else_has_changed_ends_no_command_with_a_traceback(
    tmp_path, monkeypatch, statement
):
    monkeypatch.delenv("BUDGET_AUDIT_TRACEBACK")
    path = tampered(tmp_path, statement)
    for command in (("report", "--format", "md"), ("timeline",), ("table", "main"), ("check",)):
        with contextlib.chdir(tmp_path):
            done = CliRunner().invoke(main, [*command, "--db", str(path)])
        assert done.exit_code in (0, 1, 2), (command, done.output)
        assert done.exception is None or isinstance(done.exception, SystemExit)
        assert done.exit_code != 2 or done.stderr.count("\n") == 1, done.stderr


def test_an_error_that_nobody_foresaw_is_one_line_and_shown_in_full_on_demand(
    tmp_path, monkeypatch
):
    def fail(*args, **kwargs):
        raise KeyError("nobody\nforesaw")

    monkeypatch.setattr(api, "tables", fail)
    with pytest.raises(KeyError):
        CliRunner().invoke(main, ["tables"], catch_exceptions=False)
    monkeypatch.delenv("BUDGET_AUDIT_TRACEBACK")
    _, error = told(tmp_path, "tables", status=2)
    assert "KeyError: 'nobody" in error and "BUDGET_AUDIT_TRACEBACK=1 shows where" in error


CRASHING = """
import os
from audit.cli import exits, main

@main.command(cls=exits.Draws)
def crash():
    exits.complain("told by Python")
    os.write(2, b"a native stack")
    os.{}

main()
"""


@pytest.mark.parametrize(("end", "how"), [("abort()", "SIGABRT"), ("_exit(127)", "status 127")])
def test_a_library_that_crashes_prints_no_stack_of_its_own(end, how):
    command = [sys.executable, "-c", CRASHING.format(end), "crash"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "error: told by Python",
        f"error: crash: drawing the figures ended with {how}; give it more memory, or leave out "
        "--format html",
    ]


LIMITED = """
import os, resource
import click
from audit.cli import main

@main.command()
@click.argument("end")
def end(end):
    if end == "failed":
        raise click.exceptions.Exit(1)
    os.write(2, b"a library gives up")
    os.abort() if end == "abort" else os._exit(int(end))

resource.setrlimit(resource.RLIMIT_AS, (2**36, 2**36))
main()
"""


@pytest.mark.parametrize(
    ("end", "status", "how"),
    [("abort", 2, "SIGABRT"), ("127", 2, "status 127"), ("1", 2, "status 1"), ("failed", 1, None)],
)
def test_a_library_that_gives_up_for_want_of_memory_ends_with_one_line(end, status, how):
    command = [sys.executable, "-c", LIMITED, "end", end]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (status, "")
    line = (
        f"error: end: the engine ended with {how}; this process may take too little memory (see "
        "'ulimit -v')\n"
    )
    assert done.stderr == (line if how else "")


def test_memory_that_has_run_out_is_told_as_that(tmp_path, monkeypatch):
    def fail(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(api, "tables", fail)
    _, error = told(tmp_path, "tables", status=2)
    assert error == "error: out of memory: this process may take no more (see 'ulimit -v')\n"


def test_a_table_in_another_schema_does_not_end_check(tmp_path):
    path = tampered(tmp_path, "create schema own", "create table own.notes (line varchar)")
    told(tmp_path, "check", "--db", path)


def test_what_is_no_file_is_no_database(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in ("pipe", ".", "/dev/null"):
        _, error = told(tmp_path, "table", "main", "--db", place, status=2)
        assert "not a file; choose another --db" in error
    path = tampered(tmp_path)
    os.mkfifo(path.with_name("small.duckdb.wal"))
    _, error = told(tmp_path, "table", "main", "--db", path, status=2)
    assert "small.duckdb.wal: cannot be opened: not a file" in error


def test_a_pipe_among_plug_ins_is_no_plug_in(tmp_path):
    path = tampered(tmp_path)
    (tmp_path / "own").mkdir()
    os.mkfifo(tmp_path / "own" / "mine.sql")
    _, error = told(tmp_path, "replay", "--selectors", "own", "--db", path, status=2)
    assert "mine.sql: not a file; a plug-in is a file of SQL" in error


@pytest.mark.parametrize("name", ["Attempts", "TEXTS", "meta"])
def test_a_view_in_the_place_of_a_table_is_refused_in_any_case_of_its_letters(tmp_path, name):
    steps = [f"create table own as from {name}", f"drop table {name}"]
    path = tampered(tmp_path, *steps, f'create view "{name}" as from own')
    for command in COMMANDS:
        _, error = told(tmp_path, *command, "--db", path, status=2)
        assert f"'{name.lower()}' is a view, not the table that load makes" in error


def test_a_database_that_is_attached_and_not_used_holds_nothing(tmp_path):
    path = tampered(tmp_path)
    with duckdb.connect() as con:
        con.execute(f"attach '{path}' as other")
        for function, arguments in (
            (api.table, ["main"]),
            (api.replay, []),
            (api.query, ["from main"]),
        ):
            with pytest.raises(AuditError, match="holds no attempts"):
                function(con, *arguments)


def test_a_name_that_is_not_utf_8_is_told_and_read_where_it_can_be(tmp_path):
    rows, name = tmp_path / "rows.parquet", os.fsdecode(b"r\xff.parquet")
    write_parquet(ROWS, rows)
    rows.rename(tmp_path / name)
    told(tmp_path, "load", name, "--db", "new.duckdb", "--force")
    (tmp_path / "new.duckdb").rename(tmp_path / os.fsdecode(b"d\xff.duckdb"))
    _, error = told(tmp_path, "check", "--db", os.fsdecode(b"d\xff.duckdb"), status=2)
    assert "DuckDB opens no name that is not UTF-8; rename it" in error
    other, path = os.fsdecode(b"o\xff"), tampered(tmp_path)
    _, error = told(tmp_path, "plan", name, "--out", other, "--parts", 1, status=2)
    assert "DuckDB opens no name that is not UTF-8; rename the folder" in error
    (tmp_path / other).mkdir()
    (tmp_path / other / "mine.sql").write_text(FIRST)
    for words in (("export", "--out", other, "main"), ("replay", "--selectors", other)):
        _, error = told(tmp_path, *words, "--db", path, status=2)
        assert "a name that was given is not UTF-8, and DuckDB takes none; rename it" in error


@pytest.mark.parametrize("font", ['a"b', "a'b", "a\\b", "a;b", "a\nb"])
def test_a_font_goes_by_a_plain_name(tmp_path, font):
    path = tampered(tmp_path)
    out = ("--out", "curve.svg")
    _, error = told(
        tmp_path, "figure", "budget_curve", "--db", path, *out, "--font", font, status=2
    )
    assert "--font: the name of a font" in error


CRASH = """
import os, signal, sys
from audit import api
api.replay = lambda *args, **kwargs: os.kill(os.getpid(), signal.SIGSEGV)
sys.argv = ["budget-audit", "replay", "--db", "x.duckdb", *sys.argv[1:]]
from audit.__main__ import main
main()
"""


def test_a_selector_that_crashes_the_engine_is_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", CRASH, "--selectors", "mine"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "of your own made DuckDB crash (SIGSEGV); nothing is changed" in done.stderr


@pytest.mark.parametrize("schema", ["main", "other"])
def test_a_macro_in_a_functions_place_is_found_in_any_case_and_schema(tmp_path, schema):
    peek = "(select is_correct from main.candidate_grades where bank_id = b and slot = s)"
    path = tampered(
        tmp_path,
        f"create schema if not exists {schema}",
        f'create macro {schema}."ABS"(b, s) as {peek}',
    )
    for write in (False, True):
        with (
            pytest.raises(AuditError, match="a macro 'ABS' in the place of DuckDB's own function"),
            database.opened(path, write=write),
        ):
            pass


ELIGIBLE = "    is_eligible,"
SAMPLED = "select * from ({}) using sample 50%"
SLY = {
    "peek()": FIRST.replace(ELIGIBLE, "peek(bank_id, slot) as is_eligible,"),
    "current_timestamp()": FIRST.replace(ELIGIBLE, "current_timestamp is null as is_eligible,"),
    "current_date()": FIRST.replace(ELIGIBLE, "current_date > '2000-01-01' as is_eligible,"),
    "age()": FIRST.replace(ELIGIBLE, "age('2000-01-01'::timestamp) is null as is_eligible,"),
    "using sample": SAMPLED.format(FIRST),
}


@pytest.fixture(scope="module")
def peeking(tmp_path_factory):
    """A database with a macro that looks at labels; a refused replay leaves it as it was."""
    with replayed_in_memory(tmp_path_factory.mktemp("peeking"), ROWS) as con:
        con.execute(
            "create macro peek(b, s) as (select is_correct from candidate_grades "
            "where bank_id = b and slot = s)"
        )
        yield con


@pytest.mark.parametrize(
    ("kind", "sql", "read"),
    [
        *(("selectors", sql, read) for read, sql in SLY.items()),
        ("rules", SAMPLED.format(GRACE.rstrip().rstrip(";")), "using sample"),
        ("rules", GRACE.replace("max(position)", "max(localtime)", 1), "localtime()"),
    ],
)
def test_a_plug_in_reaches_neither_a_macro_nor_clock_nor_chance(peeking, tmp_path, kind, sql, read):
    (tmp_path / kind).mkdir()
    (tmp_path / kind / "sly.sql").write_text(sql)
    with pytest.raises(AuditError, match=r"sly\.sql: reads") as refused:
        engine.replay(peeking, **SMALL, **{kind: tmp_path / kind})
    assert read in str(refused.value)
    assert engine.table(peeking, "main").num_rows > 0
