"""What a person sees in a terminal: width, colour, progress, pager."""

import os
import re
import signal
import subprocess
import sys
import time

import click
import pytest

from tests.support.command import ROOT, run, run_inside
from tests.support.terminal import in_terminal


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Simulated archives, loaded and replayed once."""
    folder = tmp_path_factory.mktemp("terminal")
    run_inside(folder, "simulate", "--out", "archives", "--problems", 2, "--attempts", 8)
    run_inside(folder, "load", "archives")
    run_inside(folder, "replay", "--orders", 2, "--replicates", 20)
    return folder


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("main", 60),
        ("main", 120),
        ("cost_comparisons", 80),
        ("selection_events", 80),
        ("selection_events", 200),
        ("check", 60),
    ],
)
def test_a_table_fits_the_terminal(folder, table, columns):
    arguments = ["check"] if table == "check" else ["table", table]
    text = click.unstyle(in_terminal(folder, *arguments, columns=columns))
    # Progress rewrites its line; notes are sentences that a terminal wraps.
    shown = (
        text.split("SIMULATED")[0]
        .split("what was written:")[0]
        .split("\r\x1b[K")[-1]
        .split("checks,")[0]
    )
    lines = [line for line in shown.splitlines() if "\x1b" not in line]
    assert len(lines) > 4
    assert all(len(line) <= columns for line in lines), max(lines, key=len)


def test_the_most_telling_columns_stay_and_the_others_are_named(folder):
    narrow = click.unstyle(in_terminal(folder, "table", "main", columns=80))
    header = narrow[: narrow.index("---")].replace("\n", " ").split()
    assert header[-2:] == ["cost", "cost"] or "delta" in header
    # The rows of an archive may stand below its name.
    assert {"budget", "strict", "advisory", "accuracy", "delta", "cost"} <= set(header)
    assert "simulated_low" in narrow and "simulated_high" in narrow
    below = " ".join(narrow.split("… and ")[1].split())
    assert "strict_cost_ratio" in below and "--wide shows all" in below
    # Every column is in the table or in the line below it.
    csv = run(folder, "table", "main", "--format", "csv").splitlines()[0].split(",")
    named = {word for name in re.findall(r"\w+", below) for word in name.split("_")}
    words = {"archive", *header, *named}
    for name in csv:
        assert set(name.removesuffix("_low").removesuffix("_high").split("_")) <= words, name
    wide = click.unstyle(in_terminal(folder, "table", "main", "--wide", columns=80))
    assert "… and" not in wide and "advisory_cost_ratio" in wide.splitlines()[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["load", "archives", "--replace", "--db", "again.duckdb"],
        ["report", "--format", "md", "--out", "md"],
        ["export", "main", "curves", "selectors", "--out", "csv"],
        ["check"],
        ["tokenize", "--db", "tokens.duckdb"],
        ["replay", "--db", "tokens.duckdb", "--orders", "1", "--replicates", "5"],
    ],
)
def test_a_long_command_shows_how_far_it_is_on_a_terminal_only(folder, arguments):
    if "tokens.duckdb" in arguments:
        (folder / "tokens.duckdb").write_bytes((folder / "audit.duckdb").read_bytes())
    seen = in_terminal(folder, *arguments)
    percents = [int(found) for found in re.findall(r"\] +(\d+) %", seen)]
    assert percents and percents[-1] == 100 and percents == sorted(percents)
    drawn = [re.sub(r"\x1b\[K", "", line) for line in re.split(r"[\r\n]", seen) if " %  " in line]
    assert all(len(line) <= 80 for line in drawn)
    assert "%" not in run_inside(folder, *arguments)


def test_a_text_is_shown_in_the_pager(folder):
    (folder / "pager").write_text("#!/bin/sh\necho PAGED; cat\n")
    (folder / "pager").chmod(0o755)
    seed = run(folder, "query", "select min(seed) as s from texts", "--format", "csv").split()[1]
    pager = str(folder / "pager")
    seen = in_terminal(folder, "show", "--seed", seed, PAGER=pager)
    assert seen.startswith("PAGED\n")
    piped = run(folder, "show", "--seed", seed)
    assert "PAGED" not in piped and piped.strip() in seen


def test_a_mistake_in_a_query_is_drawn_below_its_line(folder):
    seen = click.unstyle(in_terminal(folder, "query", "select anser from attempts", status=2))
    line, drawn, caret = seen.splitlines()
    assert line.startswith("error: query: ") and 'Candidate bindings: "answer"' in line
    assert drawn == "LINE 1: select anser from attempts"
    assert caret.index("^") == drawn.index("anser") and caret.count("^") == len("anser")


def test_a_query_shows_a_thousand_rows_on_a_terminal_and_all_in_a_pipe(folder):
    seen = in_terminal(folder, "query", "from range(1234)")
    assert "… 1,000 of 1,234 rows; --limit 0 shows all" in seen
    assert "\n1000\n" not in click.unstyle(seen).replace(" ", "")
    assert run(folder, "query", "from range(1234)").count("\n") == 1236
    assert "of 1,234" not in in_terminal(folder, "query", "from range(1234)", "--limit", "0")


def test_ctrl_c_ends_a_query_in_one_line(folder):
    sql = "select count(*) from range(10000000000) as a, range(10000000000) as b"
    child = subprocess.Popen(
        [sys.executable, "-m", "audit", "query", sql],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    # By then it is deep inside the join.
    time.sleep(3)
    os.killpg(child.pid, signal.SIGINT)
    _, error = child.communicate(timeout=30)
    assert child.returncode == 130
    assert error.strip() == "error: interrupted; what was not finished is undone"
