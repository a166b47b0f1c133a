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

from audit import api
from audit.cli import main
from audit.errors import AuditError
from tests.support.archives import attempt, write_parquet
from tests.support.command import ROOT, read_streams
from tests.support.databases import replayed
from tests.support.plugins import FIRST

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
    _, error = read_streams(tmp_path, "tables", status=2)
    assert "KeyError: 'nobody" in error and "BUDGET_AUDIT_TRACEBACK=1 shows where" in error


def test_a_limit_on_memory_is_the_reason_that_is_given(tmp_path, monkeypatch):
    def fail(error):
        def raise_it():
            raise error

        monkeypatch.setattr(api, "tables", raise_it)
        return read_streams(tmp_path, "tables", status=2)[1]

    limited = "error: out of memory: this process may take no more (see 'ulimit -v')\n"
    assert fail(MemoryError()) == fail(RuntimeError("can't start new thread")) == limited
    assert fail(duckdb.OutOfMemoryException("Out of Memory Error: Allocation failure")) == limited
    assert fail(duckdb.OutOfMemoryException("Failed to allocate (bad allocation)")) == limited
    assert "raise --memory" in fail(duckdb.OutOfMemoryException("could not allocate block"))


def test_a_tight_limit_on_memory_is_told_before_a_library_ends_the_process():
    code = "import resource; from audit.cli import main; "
    code += "resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30)); main()"
    command = [sys.executable, "-c", code, "table", "main", "--db", "none.duckdb"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert "this process may take 1.0 GB of memory (see 'ulimit -v')" in done.stderr


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
    read_streams(tmp_path, "load", name, "--db", "new.duckdb", "--force")
    (tmp_path / "new.duckdb").rename(tmp_path / os.fsdecode(b"d\xff.duckdb"))
    _, error = read_streams(tmp_path, "check", "--db", os.fsdecode(b"d\xff.duckdb"), status=2)
    assert "DuckDB opens no name that is not UTF-8; rename it" in error
    other, path = os.fsdecode(b"o\xff"), tampered(tmp_path)
    (tmp_path / other).mkdir()
    (tmp_path / other / "mine.sql").write_text(FIRST)
    _, error = read_streams(tmp_path, "export", "--out", other, "main", "--db", path, status=2)
    assert "DuckDB writes no name that is not UTF-8; rename it" in error
    _, error = read_streams(tmp_path, "replay", "--selectors", other, "--db", path, status=2)
    assert "a name that was given is not UTF-8, and DuckDB takes none; rename it" in error
