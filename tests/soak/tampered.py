"""Databases that something else has changed: a command ends by itself, at worst with one line.

Tables and views lose columns, rows and types, hold other values, or are something else altogether.
"""

import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb

from tests.support.command import ROOT
from tests.support.databases import ledger_database

RUNS = 200
SECONDS = 120
COMMANDS = (
    ("table", "main"),
    ("table", "budget_curve", "--format", "csv"),
    ("table", "matched_cost"),
    ("schema",),
    ("check",),
    ("timeline",),
    ("report", "--format", "md", "--out", "page"),
    ("report", "--format", "html", "--out", "page"),
    ("figure", "budget_curve", "--out", "curve.svg"),
    ("export", "--out", "tables"),
    ("query", "select * from results"),
    ("query", "advisory_harms"),
    ("replay", "--orders", "3"),
    ("replay", "--budgets", "7,9"),
    ("answers", "--answer", "boxed"),
)
VALUES = ("null", "-1", "0", "9223372036854775807", "'x'", "'nan'", "''", "'[1, 2]'", "true")


def changes(rng: random.Random, con: duckdb.DuckDBPyConnection) -> list[str]:
    """One to three statements that change a table or a view, whatever they do to it."""
    statements = []
    for _ in range(rng.randint(1, 3)):
        names = con.execute(
            "select table_name, table_type = 'VIEW' from information_schema.tables "
            "where table_schema = 'main' order by table_name"
        ).fetchall()
        name, is_view = rng.choice(names)
        columns = [row[0] for row in con.execute(f"describe {name}").fetchall()]
        column, value, share = rng.choice(columns), rng.choice(VALUES), rng.choice((0.1, 0.5, 1))
        # A table's content is of most interest, and a view has none.
        of_views = (
            f"create or replace view {name} as select 1 as one",
            f"create or replace view {name} as select error('changed') as {column}",
            f"drop view {name}",
        )
        of_tables = (
            f"update {name} set {column} = {value} where random() < {share}",
            f"update {name} set {column} = {value} where random() < {share}",
            f"delete from {name} where random() < {share}",
            f"insert into {name} from {name}",
            f"alter table {name} drop {column}",
            f"alter table {name} rename {column} to other",
            f"alter table {name} alter {column} type varchar",
            f"drop table {name}",
        )
        statements.append(rng.choice(of_views if is_view else of_tables))
    return statements


def ended(path: Path, command: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """The command as a user runs it."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    env.pop("BUDGET_AUDIT_TRACEBACK", None)
    return subprocess.run(
        [sys.executable, "-m", "audit", *command, "--db", path.name],
        cwd=path.parent,
        env=env,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


def run(seed: int, number: int, original: Path, scratch: Path) -> str:
    """One command on one changed database: how it ended. The first runs change nothing."""
    rng = random.Random(f"{seed} {number}")
    folder = scratch / str(number)
    folder.mkdir()
    path = Path(shutil.copy(original, folder))
    if number < len(COMMANDS):
        done = ended(path, COMMANDS[number])
        assert done.returncode in (0, 1), done.stderr
        return "unchanged"
    changed = []
    with duckdb.connect(str(path)) as con:
        con.execute(f"select setseed({rng.random()})")
        for statement in changes(rng, con):
            # A value that does not fit the column changes nothing.
            with contextlib.suppress(duckdb.Error):
                con.execute(statement)
                changed.append(statement)
    command = rng.choice(COMMANDS)
    done = ended(path, command)
    label = f"seed {seed}, run {number}: {' '.join(command)} after {changed}: {done.stderr}"
    assert done.returncode in (0, 1, 2), label
    assert "Traceback" not in done.stderr, label
    if done.returncode == 2:
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, label
    shutil.rmtree(folder)
    is_unforeseen = "BUDGET_AUDIT_TRACEBACK" in done.stderr
    return "with a line that nobody foresaw" if is_unforeseen else f"with status {done.returncode}"


def soak(seed: int, runs: int = RUNS) -> str:
    """Run random commands on randomly changed databases."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with ledger_database(folder):
            pass
        (original,) = folder.glob("*.duckdb")
        numbers = range(len(COMMANDS) + runs)
        with ThreadPoolExecutor(2) as pool:
            ends = Counter(pool.map(lambda number: run(seed, number, original, folder), numbers))
    told = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()) if end != "unchanged")
    return f"{runs} commands on changed databases ended: {told}"
