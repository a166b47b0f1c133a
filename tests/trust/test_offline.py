"""Every command but `fetch` works where there is no network (threat model, c)."""

import ast
import os
import subprocess
import sys
from functools import partial

import pytest

from audit import database
from tests.support.command import ROOT, run
from tests.support.databases import small_database

NETWORK = {"ftplib", "http", "huggingface_hub", "httpx", "requests", "smtplib", "socket",
           "ssl", "urllib.request", "urllib3", "xmlrpc"}  # fmt: skip


def test_there_is_no_network_in_the_namespace(nowhere):
    code = "import socket; server = socket.create_server(('127.0.0.1', 0));"
    code += "socket.create_connection(server.getsockname(), 5)"
    command = [sys.executable, "-c", code]
    assert subprocess.run(command).returncode == 0
    done = subprocess.run([*nowhere, *command], capture_output=True, text=True)
    assert "Network is unreachable" in done.stderr


COMMANDS = (
    "simulate --out archives --problems 1 --attempts 6",
    "describe archives",
    "load archives",
    "replay --orders 2 --replicates 10",
    "tables",
    "sql primary_picks",
    "table main",
    "table prefix_boxes --tokenize",
    "tokenize --all",
    "query cost_per_correct",
    "check",
    "compare",
    "export --out csv",
    "export main replays --format parquet --out parquet",
    "report --out report --format html,md,tex,csv",
    "timeline --out timeline.png",
    "figure budget_curve --out curve.pdf --width one",
)
# All in one process, which imports everything once.
ONE_BY_ONE = """
import sys
from click.testing import CliRunner
from audit.cli import main
for command in sys.argv[1:]:
    done = CliRunner().invoke(main, command.split())
    if done.exit_code or done.exception:
        sys.exit(f"{command}: {done.output} {done.exception!r}")
    print(command)
"""


@pytest.mark.slow
def test_every_command_works_without_a_network(tmp_path, nowhere):
    done = subprocess.run(
        [*nowhere, sys.executable, "-W", "error", "-c", ONE_BY_ONE, *COMMANDS],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == list(COMMANDS), done.stderr
    assert done.returncode == 0 and (tmp_path / "curve.pdf").stat().st_size > 0


def test_fetch_without_a_network_is_one_line_and_leaves_nothing_behind(tmp_path, nowhere):
    pytest.importorskip("huggingface_hub")
    line = run(tmp_path, "fetch", "scorio-trace", "--out", "fetched", status=2, inside=nowhere)
    assert "cannot be reached" in line and "run fetch again" in line
    assert list(tmp_path.iterdir()) == []


def imported(path):
    """Every module that a file imports, at its top or anywhere else in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_only_fetch_imports_what_opens_connections():
    users = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "audit").rglob("*.py")
        for module in imported(path)
        if any(f"{module}.".startswith(f"{name}.") for name in NETWORK)
    }
    assert users == {"audit/study/fetch.py"}


def test_the_engine_neither_fetches_nor_loads_extensions(tmp_path):
    path = tmp_path / "small.duckdb"
    with small_database(tmp_path):
        pass
    reader = partial(database.connect, read_only=True)
    for connect in (database.connect, reader, database.connect_beside):
        with connect(path) as con:
            for name in ("autoinstall_known_extensions", "autoload_known_extensions"):
                assert con.execute(f"select current_setting('{name}')").fetchall() == [(False,)]
