"""A table with an interval is two files and a line: in a copy of the package it arrives."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.support.archives import attempt, write_parquet
from tests.support.command import ROOT
from tests.support.pages import packed_tables

INTERVAL = """\
-- interval_prompts: prompt tokens of a rule's attempts, with the ends of their interval.
-- grain: archive, budget, rule
-- totals: rule_totals
-- values: prompt_tokens
-- intervals: prompts low high
select
    *,
    prompt_tokens / replays as prompts,
from replicate_prompts
"""
TABLE = """\
-- prompts: the prompt tokens that a rule's attempts take at a problem.
-- grain: archive, budget, rule
select
    archive,
    budget,
    rule,
    prompts,
    prompts_low,
    prompts_high,
from interval_prompts
order by archive, budget, rule
"""
COLUMN = ",prompts,mean prompt tokens of the attempts that are launched,tokens,1,2\n"
LISTED = "| `prompts` | the prompt tokens that a rule's attempts take at a problem. |\n"
REPLAY = "--budgets 10,20 --caps 2 --primary-cap 2 --orders 2 --replicates 20"


def copied(folder, interval=INTERVAL, table=TABLE, column=COLUMN):
    """A copy of the package with one more table, and one small archive beside it."""
    for name in ("audit", "sql", "queries"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "sql" / "intervals" / "interval_prompts.sql").write_text(interval)
    (folder / "sql" / "tables" / "prompts.sql").write_text(table)
    with (folder / "sql" / "columns.csv").open("a") as file:
        file.write(column)
    rows = [
        # At a budget of 20 every controller launches two attempts, at one of 10 the first.
        attempt(seed, 10, str(seed % 2), question=n, correct=seed == 0, prompt_tokens=5 + n)
        for n in range(3)
        for seed in range(4)
    ]
    write_parquet(rows, folder / "a.parquet")
    return folder


def run(folder, *arguments):
    """Python with the copy."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )


TELLING = """
import json, sys
from click.testing import CliRunner
from audit.cli import main
done = [CliRunner().invoke(main, one, catch_exceptions=False) for one in json.loads(sys.argv[1])]
print(json.dumps([(one.exit_code, one.stderr if one.exit_code else one.stdout) for one in done]))
"""


def told(folder, *commands):
    """What some commands of the copy print, one after the other in one process."""
    done = run(folder, "-c", TELLING, json.dumps([*commands]))
    assert done.returncode == 0, done.stderr
    for status, text in json.loads(done.stdout):
        assert status == 0, text
        yield text


def test_a_table_with_an_interval_is_two_files_and_a_line(tmp_path):
    folder = copied(tmp_path / "copy")
    _, _, names, rows, shown, _, found, meanings, replicates, _ = told(
        folder,
        ("load", "a.parquet"),
        ("replay", *REPLAY.split()),
        ("tables",),
        ("table", "prompts", "--format", "csv"),
        ("table", "prompts"),
        ("export", "--out", "out", "prompts"),
        ("query", "--format", "csv", "select prompts from prompts where budget = 20"),
        ("schema", "prompts"),
        ("sql", "replicate_prompts"),
        ("report", "--out", "page"),
    )
    assert "prompts              the prompt tokens" in names
    rows = list(csv.DictReader(io.StringIO(rows)))
    # 5, 6 and 7 prompt tokens an attempt; a replicate draws three of the problems.
    means = {(row["budget"], row["rule"]): float(row["prompts"]) for row in rows}
    assert means == {
        (budget, rule): mean
        for budget, mean in (("10", 6), ("20", 12))
        for rule in ("advisory", "strict")
    }
    for row in rows:
        assert 5 <= float(row["prompts_low"]) < float(row["prompts"]) < float(row["prompts_high"])
    assert "12.0 [" in shown
    with (folder / "out" / "prompts.csv").open() as file:
        assert list(csv.DictReader(file)) == rows
    assert found.split() == ["prompts", "12.0", "12.0"]
    assert "mean prompt tokens of the attempts that are launched" in meanings
    assert "lower end of the 95 % interval of prompts" in meanings
    assert "from rule_totals" in replicates
    page = (folder / "page" / "report.html").read_text(encoding="utf-8")
    (packed,) = (table for table in packed_tables(page)["tables"] if table["name"] == "prompts")
    assert packed["csv"].startswith("archive,budget,rule,prompts,prompts_low,prompts_high")


def test_the_documentation_is_held_to_list_a_table_that_is_added(tmp_path):
    folder = copied(tmp_path / "copy")
    for name in ("tests", ".github", ".ci"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "README.md", folder)
    check = (
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/test_docs.py",
        "-k",
        "every_table",
    )
    undocumented = run(folder, *check)
    assert undocumented.returncode == 1 and "`prompts`" in undocumented.stdout
    path = folder / "sql" / "README.md"
    before, mark, after = path.read_text(encoding="utf-8").partition("| `selection_events` |")
    path.write_text(before + LISTED + mark + after, encoding="utf-8")
    documented = run(folder, *check)
    assert documented.returncode == 0, documented.stdout


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"interval": INTERVAL.replace("-- values: prompt_tokens\n", "")},
            "sql/intervals/interval_prompts.sql: its header lacks the line '-- values: …'",
        ),
        (
            {"interval": INTERVAL.replace("prompts low high", "prompts low top")},
            "sql/intervals/interval_prompts.sql: '-- intervals:' has no 'top'; there are low, high",
        ),
        (
            {"table": TABLE.replace("-- prompts: the", "-- the")},
            "sql/tables/prompts.sql: its header lacks the line '-- prompts: …'",
        ),
        (
            {"interval": INTERVAL.replace("rule_totals", "rule_sums")},
            "sql/intervals/interval_prompts.sql: Catalog Error: Table with name rule_sums",
        ),
        (
            {"table": TABLE.replace("prompts_high,", "prompts_most,")},
            'sql/tables/prompts.sql: Binder Error: Referenced column "prompts_most" not found',
        ),
    ],
)
def test_a_table_that_lacks_something_says_what_and_where(tmp_path, changed, said):
    folder = copied(tmp_path / "copy", **changed)
    with pytest.raises(AssertionError) as failed:
        list(told(folder, ("load", "a.parquet"), ("replay", *REPLAY.split()), ("tables",)))
    assert said in str(failed.value)
