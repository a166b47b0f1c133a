"""Every command but `fetch` works where there is no network (threat model, c)."""

import os
import subprocess
import sys
from functools import partial

import pytest

from audit import database
from tests.support.command import ROOT, run
from tests.support.databases import small_database

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


def test_the_engine_neither_fetches_nor_loads_extensions(tmp_path):
    path = tmp_path / "small.duckdb"
    with small_database(tmp_path):
        pass
    reader = partial(database.connect, read_only=True)
    for connect in (database.connect, reader, database.connect_beside):
        with connect(path) as con:
            for name in ("autoinstall_known_extensions", "autoload_known_extensions"):
                assert con.execute(f"select current_setting('{name}')").fetchall() == [(False,)]
