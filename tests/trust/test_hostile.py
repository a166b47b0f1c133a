"""Broken files and odd names harm nothing (threat model, b), and plug-ins see no label (e)."""

import csv
import random
import re
import subprocess
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from audit import database, engine
from audit.cli import main
from audit.engine.plugins import choose_plugins
from audit.errors import AuditError
from audit.load.load import load
from audit.report import report
from audit.report.figures import save_figure, timeline
from audit.text import visible
from tests.support.archives import random_archive, write_csv, write_jsonl, write_parquet
from tests.support.browser import ready
from tests.support.databases import SMALL, small_database
from tests.support.logs import FORMATS
from tests.support.missing import require_latex

ROOT = Path(__file__).resolve().parents[2]

# Files


def damage(rng, data):
    """Cut, overwrite, repeat or insert bytes somewhere."""
    at, size = rng.randrange(len(data)), rng.randint(1, 40)
    return rng.choice(
        (
            data[:at],
            data[:at] + rng.randbytes(size) + data[at + size :],
            data[: at + size] + data[at:],
            data[:at] + rng.choice((b"null", b"9" * 400, b"[" * 2000, b"\0")) + data[at:],
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet", ".jsonl.gz", ".eval"])
def test_damaged_files_load_or_are_refused_in_one_line(tmp_path, suffix):
    rng, ends = random.Random(f"20261118 {suffix}"), Counter()
    path = tmp_path / f"damaged{suffix}"
    if suffix == ".eval":
        sound = (FORMATS / "inspect_deflate.eval").read_bytes()
    else:
        writer = {".csv": write_csv, ".parquet": write_parquet}.get(suffix, write_jsonl)
        writer(random_archive(random.Random(5), problems=2, attempts=3), path)
        sound = path.read_bytes()
    for _ in range(25):
        path.write_bytes(damage(rng, sound))
        with duckdb.connect() as con:
            try:
                load(con, [str(path)], force=True, unlabelled="wrong")
                ends["loaded"] += 1
            except AuditError as error:
                assert path.name in str(error) and "\n" not in str(error)
                assert database.relations(con) == {}
                ends["refused"] += 1
    assert ends["refused"] > 5


# Rules and selectors from outside

READ_LABELS = {
    "a common table expression of that name": "with grades as (from grades) select 1 from grades",
    "one that comes later": "with a as (from labels), labels as (select 1) select 1 from a",
    "a schema": "select 1 from main.grades",
    "capitals": 'select 1 from "GRADES"',
    "a subquery": "select (select max(correct) from candidate_grades) from banks",
    "an order": "select 1 from banks order by (select count(*) from labels)",
    "a filter": "select count(*) filter (exists (from labels)) from banks",
    "a set operation": "select 1 from banks union all by name select 1 from labels",
    "a pivot": "select 1 from (pivot labels on correct in (true) using count(*))",
    "query": "select 1 from query('from labels')",
    "a file": "select 1 from read_csv('{folder}/x.csv')",
    "chance": "select random() from banks",
    "the clock": "select now() from banks",
    "two statements": "select 1 from banks; drop table labels",
}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A replayed database, closed."""
    folder = tmp_path_factory.mktemp("small")
    with small_database(folder):
        pass
    return folder / "small.duckdb"


@pytest.mark.parametrize("way", READ_LABELS)
def test_no_rule_or_selector_sees_a_label_or_more_than_it_may(tmp_path, way):
    sql = READ_LABELS[way].format(folder=tmp_path)
    (tmp_path / "peek.sql").write_text(sql)
    for kind in ("rules", "selectors"):
        with pytest.raises(AuditError, match=r"peek\.sql: (reads|not one select)"):
            choose_plugins(kind, tmp_path, {})
    assert [path.name for path in tmp_path.iterdir()] == ["peek.sql"]


# Names and texts

NAMES = (
    "Robert'); drop table attempts; --\"",
    "{{ 7 * 191 }} {% raw %} << 7 * 191 >> <% x %> <# x #> ${7*191}",
    "<script>window.hacked = 1; document.title = 'hacked'</script>",
    '</script></style></svg><img src=x onerror="window.hacked = 1">',
    "\u202egnp.exe\u202c \u200f\u05d0\u05d1",
    "a\\b%$#_&~^{}|\"'`*[]<> \\textbf{x",
    "one\ntwo\r\tthree\u2028four",
    "\x1b[31mred\x1b[0m\x1b]0;hacked\x07\x9b2J\x7f",
    "\\input{/etc/hostname} \\write18{touch hacked} ^^5cinput $x$ % x",
    "nul\0nul",
    "[x](javascript:window.hacked=1) ![y](x.png)",
    "=cmd|'/C calc'!A0",
)
ARCHIVES = (" ".join(NAMES[:4]), NAMES[7] + NAMES[8])
COMPETITIONS = (NAMES[4], NAMES[5])
STEERED = "\x00\x07\x08\x0b\x1b\x7f\x9b\u200f\u202e\u2028"


def hostile_rows():
    """Attempts whose every text tries to break out; problems go by names."""
    return [
        {
            "archive": archive,
            "competition": competition,
            "problem_id": NAMES[problem],
            "seed": seed,
            "prompt_tokens": 2,
            "completion_tokens": 5 + 3 * seed + problem % 2,
            "finish_reason": "stop",
            "boxed_answer": NAMES[(at + problem + seed) % len(NAMES)] if seed else "7",
            "archive_answer": NAMES[(problem + seed) % len(NAMES)],
            "correct": seed == 0,
            "mean_logprob": -0.5 - seed % 2,
            "references": ["7", *NAMES],
        }
        for at, archive in enumerate(ARCHIVES)
        for competition in COMPETITIONS
        for problem in (6, 9, 10, 11)
        for seed in range(3)
    ]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A database of hostile names from a file of such a name, and its report in every format."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "in").mkdir()
    write_jsonl(hostile_rows(), folder / "in" / "<img onerror=x> %$_'\".jsonl")
    with database.connect(folder / "audit.duckdb") as con:
        load(con, [str(folder / "in")])
        engine.replay(con, **{**SMALL, "budgets": (6, 12, 20), "orders": 2})
    with database.connect(folder / "audit.duckdb", read_only=True) as con:
        report(con, folder / "report", ("html", "md", "tex", "csv"))
        save_figure(timeline(con, ARCHIVES[1]), folder / "figure.html")
    return folder


def run(world, *arguments, status=0):
    """What a command prints, on both streams, with the status it ends with."""
    arguments = [*map(str, arguments), "--db", str(world / "audit.duckdb")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == status, result.output
    return result.output


@pytest.mark.slow
def test_every_command_takes_hostile_names_and_steers_no_terminal(world):
    printed = [run(world, "check"), run(world, "compare")]
    # CSV and JSON are exact.
    for fmt in ("table", "md", "tex"):
        printed += [
            run(world, "table", name, "--format", fmt)
            for name in ("main", "selection_events", "source_audit", "by_competition")
        ]
    printed.append(run(world, "query", "select distinct archive, answer from attempts"))
    out = world / "timeline.svg"
    printed.append(run(world, "timeline", "--archive", ARCHIVES[1], "--out", out))
    for name in ("archive", "competition"):
        printed.append(run(world, "timeline", f"--{name}", NAMES[7] + "?", "--out", out, status=2))
    for text in printed:
        assert not set(STEERED) & set(text)
    again = CliRunner().invoke(main, ["load", str(world / "in"), "--db",
                                      str(world / "audit.duckdb")])  # fmt: skip
    assert again.exit_code == 2 and again.output.count("\n") == 1
    assert not set(STEERED) & set(again.output)
    described = CliRunner().invoke(main, ["describe", str(world / "in")])
    assert described.exit_code == 0 and not set(STEERED) & set(described.output)
    assert visible(NAMES[7])[:20] in described.output


def test_csv_gives_every_name_back_as_it_was(world):
    with (world / "report" / "csv" / "by_competition.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["archive"] for row in rows} == set(ARCHIVES)
    assert {row["competition"] for row in rows} == set(COMPETITIONS)
    run(world, "export", "problem_names", "--out", world / "csv")
    with (world / "csv" / "problem_names.csv").open(newline="") as stream:
        # A spreadsheet would compute it: exports are exact.
        assert NAMES[11] in {row["name"] for row in csv.DictReader(stream)}


def test_the_report_runs_nothing_and_shows_every_name(world, browser):
    browser.open(world / "report" / "report.html")
    ready(browser)
    text = browser.run("document.body.innerText")
    for name in (NAMES[0], NAMES[2], NAMES[3], visible(NAMES[7]), r"nul\x00nul", NAMES[11]):
        assert " ".join(name.split()) in " ".join(text.split())
    assert not set(STEERED) & set(browser.run("document.documentElement.outerHTML"))
    assert_untouched(browser)


def assert_untouched(browser):
    """Nothing that came with a name has run, or asked for anything."""
    assert browser.run("typeof window.hacked") == "undefined"
    assert browser.run("document.title") != "hacked"
    assert browser.run("document.querySelectorAll('img, iframe, object, embed').length") == 0
    assert browser.run("document.querySelectorAll('a[href^=javascript]').length") == 0
    assert browser.complaints() == [] and browser.requests() == []


def test_markdown_holds_no_markup_of_a_name(world):
    text = (world / "report" / "report.md").read_text()
    assert not set(STEERED) & set(text)
    assert not re.search(r"(?<!\\)<(script|img)|(?<!\\)\]\(javascript", text)
    assert "1337" not in text


def test_latex_compiles_and_obeys_no_name(world):
    folder = world / "report"
    text = (folder / "report.tex").read_text()
    assert r"\input{/etc" not in text and r"\write18" not in text and "1337" not in text
    assert "^^" not in text and not set(STEERED) & set(text)
    require_latex()
    done = subprocess.run(
        [
            "pdflatex",
            "-no-shell-escape",
            "-halt-on-error",
            "-interaction=nonstopmode",
            "report.tex",
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "/etc/hostname" not in (folder / "report.log").read_text(errors="replace")
    assert not (folder / "hacked").exists()
