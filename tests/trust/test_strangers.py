"""A database that another program changed (threat model, b), and plug-ins that peek (e)."""

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


@functools.cache
def honest():
    """Make a replayed database once; return its path."""
    folder = Path(tempfile.mkdtemp(prefix="strangers"))
    atexit.register(shutil.rmtree, folder)
    with replayed(folder, ROWS, "honest"):
        pass
    return folder / "honest.duckdb"


def tampered(folder, *statements):
    """Copy it and run statements on the copy, as another program would; return its path."""
    path = folder / "small.duckdb"
    shutil.copy(honest(), path)
    with duckdb.connect() as con:
        con.execute(f"attach '{path}' as small")
        con.execute("use small")
        for statement in statements:
            con.execute(statement)
    return path


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
    "a null setting": "update settings set value = null where key = 'caps'",
    "no settings": "delete from settings",
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
    def fail():
        raise KeyError("nobody\nforesaw")

    monkeypatch.setattr(api, "tables", fail)
    with pytest.raises(KeyError):
        CliRunner().invoke(main, ["tables"], catch_exceptions=False)
    monkeypatch.delenv("BUDGET_AUDIT_TRACEBACK")
    _, error = told(tmp_path, "tables", status=2)
    assert "KeyError: 'nobody" in error and "BUDGET_AUDIT_TRACEBACK=1 shows where" in error


def test_a_limit_on_memory_is_the_reason_that_is_given(tmp_path, monkeypatch):
    def fail(error):
        def raise_it():
            raise error

        monkeypatch.setattr(api, "tables", raise_it)
        return told(tmp_path, "tables", status=2)[1]

    limited = "error: out of memory: this process may take no more (see 'ulimit -v')\n"
    assert fail(MemoryError()) == limited
    assert fail(duckdb.OutOfMemoryException("Out of Memory Error: Allocation failure")) == limited
    assert fail(duckdb.OutOfMemoryException("Failed to allocate (bad allocation)")) == limited
    assert "raise --memory" in fail(duckdb.OutOfMemoryException("could not allocate block"))


def test_a_tight_limit_on_memory_is_told_before_a_library_ends_the_process():
    code = "import resource; from audit.cli import main; "
    code += "resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30)); main()"
    command = [sys.executable, "-c", code, "table", "main", "--db", "none.duckdb"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert "this process may take 1.0 GB of memory (see 'ulimit -v')" in done.stderr


def test_a_table_in_another_schema_does_not_end_check(tmp_path):
    path = tampered(tmp_path, "create schema own", "create table own.notes (line varchar)")
    told(tmp_path, "check", "--db", path)


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


STANDING = "    -position as standing,"
SAMPLED = "select * from ({}) using sample 50%"
SLY = {
    "peek()": FIRST.replace(STANDING, "peek(bank_id, slot)::int as standing,"),
    "current_timestamp()": FIRST.replace(STANDING, "(current_timestamp is null)::int as standing,"),
    "current_date()": FIRST.replace(STANDING, "(current_date > '2000-01-01')::int as standing,"),
    "age()": FIRST.replace(STANDING, "(age('2000-01-01'::timestamp) is null)::int as standing,"),
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
