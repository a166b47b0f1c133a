"""What a lab has at hand: schema, show, diff, expectations, filters, completion."""

import json
import os
import re
from xml.etree import ElementTree

import pytest

from audit import database, engine
from audit.engine import check as verifying
from tests.support.archives import attempt
from tests.support.command import read_streams
from tests.support.databases import replayed, tables_of


def run(folder, *arguments, status=0):
    """What the command prints; of a mistake, its line."""
    out, error = read_streams(folder, *arguments, status=status)
    return error if status == 2 else out


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Simulated archives, loaded and replayed once."""
    folder = tmp_path_factory.mktemp("hand")
    run(folder, "simulate", "--out", "archives", "--problems", 2, "--attempts", 8)
    run(folder, "load", "archives")
    run(folder, "replay", "--orders", 2, "--replicates", 20)
    return folder


def rows(folder, *arguments, status=0):
    """The rows that a command prints as JSON."""
    return json.loads(run(folder, *arguments, "--format", "json", status=status))


# The schema.


def test_schema_tells_public_relations_tables_and_the_engines_own_apart(folder):
    kinds = {row["relation"]: row["kind"] for row in rows(folder, "schema")}
    assert kinds["attempts"] == kinds["replays"] == "public"
    assert kinds["main"] == "table" and kinds["meta"] == "internal"
    assert "yours" not in kinds.values()
    assert all(row["one row is"] for row in rows(folder, "schema") if row["kind"] == "public")


def test_schema_names_a_users_own_table(folder, tmp_path):
    db = tmp_path / "own.duckdb"
    db.write_bytes((folder / "audit.duckdb").read_bytes())
    with database.connect(db) as con:
        con.execute('create table "my notes" as select 1 as one')
    kinds = {row["relation"]: row["kind"] for row in rows(folder, "schema", "--db", db)}
    assert kinds["my notes"] == "yours"
    (column,) = rows(folder, "schema", "my notes", "--db", db)
    assert column == {"column": "one", "type": "integer", "meaning": ""}


def test_schema_describes_every_column_of_every_public_relation_and_table(folder):
    for row in rows(folder, "schema"):
        if row["kind"] in ("public", "table"):
            for column in rows(folder, "schema", row["relation"]) if row["relation"] in (
                "attempts", "replays", "main",
            ) else ():  # fmt: skip
                assert column["type"] and column["meaning"], (row["relation"], column)
    assert "did you mean 'replays'?" in run(folder, "schema", "replay", status=2)
    # A column of many tables means something of its own in these two.
    meanings = {
        name: {row["column"]: row["meaning"] for row in rows(folder, "schema", name)}
        for name in ("attempts", "results")
    }
    assert meanings["attempts"]["money"] == "what the attempt was billed; null where unknown"
    assert "launched attempts" in meanings["results"]["money"]


def test_the_catalogue_says_what_relations_and_columns_mean(folder, tmp_path):
    db = tmp_path / "commented.duckdb"
    db.write_bytes((folder / "audit.duckdb").read_bytes())
    with database.connect(db) as con:
        con.execute("create table mine as select 1 as archive")
        engine.comment_relations(con)
        comments = dict(
            con.execute(
                "select table_name, comment from duckdb_tables() union all "
                "select view_name, comment from duckdb_views() where not internal"
            ).fetchall()
        )
        columns = con.execute(
            "select table_name, column_name, comment from duckdb_columns() where not internal"
        ).fetchall()
        # What has a comment is what users may rely on.
        tables = {name for name in engine.list_tables() if name in comments}
        public = tables | {name for name in engine.PUBLIC_RELATIONS if name in comments}
        assert {name for name, comment in comments.items() if comment} == public
        assert {"main", "results"} <= public and "stops" in comments
        for name in engine.PUBLIC_RELATIONS:
            if name in comments:
                assert comments[name] and not comments[name].startswith("internal: "), name
        assert comments["meta"] is None or comments["meta"].startswith("internal: ")
        lacking = [(t, c) for t, c, words in columns if t in engine.PUBLIC_RELATIONS and not words]
        assert not lacking
        for name, table in tables_of(con, set(engine.list_tables()) - {"prefix_boxes"}).items():
            for one in table.column_names:
                assert engine.describe_column(name, one), (name, one)


# One problem.


def test_show_lists_the_attempts_of_a_problem_and_prints_a_text(folder):
    key = ("--archive", "simulated_low", "--competition", "AIME24", "--question", 1)
    listed = rows(folder, "show", *key)
    assert len(listed) == 8
    assert list(listed[0]) == [
        *("seed", "completion_tokens", "finish_reason"),
        *("answer", "eligible", "correct", "votes"),
    ]
    for row in listed:
        same = [other for other in listed if other["eligible"] and other["answer"] == row["answer"]]
        votes = len(same) if row["eligible"] else None if row["answer"] is None else 0
        assert row["votes"] == votes
    eligible = next(row for row in listed if row["eligible"])
    text = run(folder, "show", *key, "--seed", eligible["seed"])
    assert f"\\boxed{{{eligible['answer']}}}" in text
    for wrong, part in (
        (["--archive", "simulated_hgih"], "did you mean 'simulated_high'?"),
        (["--competition", "AIME23"], "--competition: no competition 'AIME23'"),
        (["--question", "99"], "no question '99'"),
        (["--seed", "99"], "no seed '99'"),
    ):
        assert part in run(folder, "show", *wrong, status=2)


def test_a_table_of_problems_and_a_timeline_name_the_command_that_shows_one(folder):
    _, error = read_streams(folder, "table", "selection_events")
    command = re.search(
        r"budget-audit (show --archive \S+ --competition \S+ --question \d+)", error
    )
    assert len(rows(folder, *command[1].split())) == 8
    _, error = read_streams(folder, "timeline", "--out", "t.svg")
    assert "budget-audit show --archive simulated_high --competition AIME24 --question 0" in error


# Two databases.


@pytest.mark.slow
def test_diff_of_a_database_with_itself_is_empty_and_of_another_is_not(folder, tmp_path):
    other = tmp_path / "other.duckdb"
    other.write_bytes((folder / "audit.duckdb").read_bytes())
    assert rows(folder, "diff", "audit.duckdb", other) == []
    run(folder, "replay", "--db", other, "--orders", 2, "--replicates", 20, "--budgets", "4k,9k")
    found = rows(folder, "diff", "audit.duckdb", other, status=1)
    settings = {row["row"]: (row["old"], row["new"]) for row in found if row["what"] == "settings"}
    assert settings == {"budgets": ("4000,8000,16000,32000", "4000,9000")}
    main = [row for row in found if row["what"] == "main"]
    assert {"what": "main", "row": "simulated_low, 9000", "column": "", "old": None,
            "new": "there"} in main  # fmt: skip
    assert not [row for row in main if row["row"] == "simulated_low, 4000"]
    # Every table has its own rows.
    curves = [row["row"].split(", ") for row in found if row["what"] == "curves"]
    new = [set(key) for key in curves if "9000" in key]
    assert {"simulated_low", "9000", "strict"} in new and len(new) == 4
    # One table alone; one archive as another.
    table = rows(folder, "diff", "audit.duckdb", other, "--table", "main", status=1)
    assert table == main
    as_other = ("--archive", "simulated_low=simulated_high", "--table", "curves")
    found = rows(folder, "diff", "audit.duckdb", "audit.duckdb", *as_other, status=1)
    assert {row["row"].split(",")[0] for row in found} == {"simulated_high"}
    wrong = run(folder, "diff", "audit.duckdb", other, "--archive", "simulated_lwo", status=2)
    assert "--archive: OLD: no archive 'simulated_lwo'; did you mean 'simulated_low'?" in wrong


def test_diff_forgives_what_is_within_the_tolerance(folder, tmp_path):
    other = tmp_path / "seeds.duckdb"
    other.write_bytes((folder / "audit.duckdb").read_bytes())
    run(folder, "replay", "--db", other, "--orders", 2, "--replicates", 20, "--bootstrap-seed", 1)
    found = rows(folder, "diff", "audit.duckdb", other, "--table", "main", status=1)
    assert {row["column"] for row in found} <= {"delta_low", "delta_high"}
    assert rows(folder, "diff", "audit.duckdb", other, "--table", "main", "--tolerance", 100) == []
    assert "no such database" in run(folder, "diff", "audit.duckdb", "none.duckdb", status=2)


# The CI of a lab.


def test_expectations_pass_fail_and_are_counted(folder, tmp_path):
    curves = rows(folder, "table", "curves")
    point = next(r for r in curves if r["archive"] == "simulated_low" and r["rule"] == "strict")
    accuracy = point["accuracy"]
    good = f"simulated_low, 4k, strict: accuracy >= {accuracy:.6f} and cost <= 4k"
    bad = "simulated_low, 4k, strict: accuracy > 100 and cost <= 4k"
    out, error = read_streams(folder, "check", "--expect", bad, "--expect", good, status=1)
    failed = [line for line in error.splitlines() if line.startswith("failed: ")]
    measured = f"accuracy is {accuracy:.6g}, cost is {point['cost']:.6g}"
    assert failed == [f"failed: {bad}: simulated_low, 4k, strict: {measured}"]
    file = tmp_path / "expected.txt"
    file.write_text("# a comment\n\n*, *, strict: cost_ratio <= 1\nmain: *_low: delta >= -100\n")
    # A text may be longer than a file's name.
    expected = good.replace(f"{accuracy:.6f}", "0") + 20 * " and accuracy >= 0"
    asked = ("check", "--expect", file, "--expect", expected, "--format", "json")
    out, error = read_streams(folder, *asked)
    assert "0 failed" in error
    found = json.loads(out)
    looked_at = {row["check"]: row["looked_at"] for row in found}
    # Two archives and four budgets; one archive.
    assert looked_at["expect *, *, strict: cost_ratio <= 1"] == 8
    assert looked_at["expect main: *_low: delta >= -100"] == 4
    assert looked_at[f"expect {expected}"] == 1
    assert looked_at.keys() >= {"pools_nested", "labels_shuffled"}
    # Of eight rows that hold, five are told; the table's name stands once.
    told_rows = {row["check"]: (row["claim"], row["measured"]) for row in found}
    claim, measured = told_rows["expect *, *, strict: cost_ratio <= 1"]
    assert claim == "curves: *, *, strict: cost_ratio <= 1"
    assert measured.count("cost_ratio is ") == 5 and measured.endswith("; and 3 more")
    assert told_rows["expect main: *_low: delta >= -100"][0] == "main: *_low: delta >= -100"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("simulated_low, 4k, strict: good", "no column 'good'; there are archive"),
        ("simulated_low, 4k, strict: acuracy >= 1", "did you mean 'accuracy'?"),
        ("simulated_low, 4k, strict: exists (from glob('/*'))", "glob"),
        (
            "simulated_low, 5k, strict: accuracy >= 1",
            "no row of curves has budget '5k': write archive, budget, rule; there are 4k, 8k, 16k",
        ),
        ("simulated_low, strict: accuracy >= 1", "no row of curves has budget 'strict'"),
        ("*, *, *, d: accuracy >= 1", "fewer keys; write archive, budget, rule"),
        ("nowhere.txt", "cannot be read"),
        ("main: *: delta > 'x'", "Could not convert string 'x'"),
        ("main: *: delta > $1", "$ is for --unit money"),
    ],
)
def test_an_expectation_that_means_nothing_is_a_mistake(folder, text, part, monkeypatch):
    # The invariants are verified before, which takes time and changes nothing here.
    monkeypatch.setattr(verifying, "check", lambda *_, **__: verifying.Checks().table())
    assert part in run(folder, "check", "--expect", text, status=2)


def test_a_null_never_meets_an_expectation(folder, tmp_path):
    db = tmp_path / "bare.duckdb"
    db.write_bytes((folder / "audit.duckdb").read_bytes())
    run(folder, "replay", "--db", db, "--orders", 2, "--replicates", 0)
    expected = "simulated_low, 4k, strict: accuracy_low >= 0"
    _, error = read_streams(folder, "check", "--db", db, "--expect", expected, status=1)
    assert "accuracy_low has no value" in error


def test_checks_are_junit_and_a_file_of_expectations_is_named_with_its_line(folder, tmp_path):
    file = tmp_path / "expected.txt"
    file.write_text("# first\nmain: *, 4k: delta <= 100\ndata_quality: *: severity <> 'fail'\n")
    expected = "simulated_low, 4k, strict: accuracy > 100"
    asked = ("check", "--format", "junit", "--expect", expected, "--expect", file)
    out, _ = read_streams(folder, *asked, status=1)
    suite = ElementTree.fromstring(out)
    cases = suite.findall("testcase")
    assert suite.get("tests") == str(len(cases)) and suite.get("failures") == "1"
    (failed,) = (case for case in cases if case.find("failure") is not None)
    assert failed.get("name") == f"expect {expected}"
    assert expected in failed.find("failure").get("message")
    assert re.search(r"simulated_low, 4k, strict: accuracy is \d", failed.find("failure").text)
    assert all(float(case.get("time")) >= 0 for case in cases)
    named = {case.get("name"): case for case in cases}
    one = named["expect main: *, 4k: delta <= 100"]
    assert (one.get("file"), one.get("line")) == (str(file), "2")
    assert "simulated_low, 4k: delta is " in one.find("system-out").text
    assert named["expect data_quality: *: severity <> 'fail'"].get("line") == "3"


def test_records_that_do_not_fit_fail_a_check_by_themselves(tmp_path):
    """Fewer than one attempt in a hundred is finished."""
    ends = ["stop", *["length"] * 149]
    rows_ = [attempt(seed, 100 + seed, "4", finish=end) for seed, end in enumerate(ends)]
    with replayed(tmp_path, rows_, orders=2, replicates=2, budgets=(150,)) as con:
        quality = engine.compute_table(con, "data_quality").to_pylist()
    failing = [row["check"] for row in quality if row["severity"] == "fail"]
    assert failing == ["finished"]
    text = "data_quality: *, *: severity <> 'fail'"
    asked = ("check", "--db", tmp_path / "small.duckdb", "--expect", text)
    _, error = read_streams(tmp_path, *asked, status=1)
    assert "failed: data_quality: " in error and failing[0] in error
    assert "severity is fail" in error


# Filters.


def test_a_filter_leaves_the_rows_that_are_asked_for(folder, tmp_path):
    whole = rows(folder, "table", "by_competition")
    for arguments, keep in (
        (["--archive", "simulated_low"], lambda r: r["archive"] == "simulated_low"),
        (["--archive", "*_low", "--archive", "*_high"], lambda r: True),
        (["--competition", "AIME24"], lambda r: r["competition"] == "AIME24"),
        (
            ["--competition", "AIME24", "--archive", "*igh"],
            lambda r: r["competition"] == "AIME24" and r["archive"] == "simulated_high",
        ),
    ):
        expected = [row for row in whole if keep(row)]
        assert rows(folder, "table", "by_competition", *arguments) == expected
    _, error = read_streams(folder, "table", "main", "--archive", "*_low")
    assert "shown: archive simulated_low" in error
    problems = tmp_path / "problems.csv"
    problems.write_text("competition,question_id\nAIME24,1\n")
    events = rows(folder, "table", "selection_events")
    kept = [r for r in events if (r["competition"], r["question_id"]) == ("AIME24", 1)]
    assert kept and rows(folder, "table", "selection_events", "--problems", problems) == kept


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["main", "--archive", "simulated_lo"], "did you mean 'simulated_low'?"),
        (["main", "--archive", "x*"], "--archive: no archive 'x*'"),
        (["main", "--competition", "AIME24"], "--competition: main has no rows of single"),
        (["main", "--problems", "two.csv"], "--problems: main has no rows of single"),
        (["controls", "--archive", "*_low"], "--archive: controls has no rows of single archives"),
        (["selection_events", "--problems", "absent.csv"], "no problem AIME24, 99"),
        (["selection_events", "--problems", "none.csv"], "cannot be read"),
        (
            ["selection_events", "--problems", "bad.csv"],
            "invalid literal for int() with base 10: 'one'",
        ),
        (
            ["selection_events", "--problems", "empty.csv"],
            "the columns competition and question_id",
        ),
    ],
)
def test_a_filter_that_cannot_be_followed_is_one_line(folder, arguments, part):
    (folder / "two.csv").write_text("competition,question_id\nAIME24,0\nAIME24,1\n")
    (folder / "absent.csv").write_text("competition,question_id\nAIME24,99\n")
    (folder / "bad.csv").write_text("competition,question_id\nAIME24,one\n")
    (folder / "empty.csv").write_text("problem\n1\n")
    assert part in run(folder, "table", *arguments, status=2)


def test_a_filter_that_leaves_nothing_is_one_line(folder, tmp_path):
    events = {
        (row["competition"], row["question_id"])
        for row in rows(folder, "table", "selection_events")
    }
    attempts = rows(folder, "query", "select distinct competition, question_id from attempts")
    quiet = next((r for r in attempts if (r["competition"], r["question_id"]) not in events), None)
    assert quiet is not None, "every problem has an event: choose another seed"
    (tmp_path / "p.csv").write_text(
        f"competition,question_id\n{quiet['competition']},{quiet['question_id']}\n"
    )
    arguments = ("selection_events", "--problems", tmp_path / "p.csv")
    assert "the filter leaves nothing" in run(folder, "table", *arguments, status=2)


@pytest.mark.slow
def test_export_and_report_follow_the_filter(folder, tmp_path):
    out, error = read_streams(folder, "export", "--archive", "*_low", "--out", tmp_path / "low")
    # One archive has no other to be compared with, and controls are of all.
    left_out = re.search(r"left out, as the filter cannot be applied: (.+)", error)[1]
    assert "controls" in left_out.split(", ")
    for path in out.split():
        text = (tmp_path / "low" / os.path.basename(path)).read_text()
        assert "simulated_high" not in text, path
    run(folder, "export", "replays", "--competition", "AIME24", "--out", tmp_path / "some")
    lines = (tmp_path / "some" / "replays.csv").read_text().splitlines()
    # 2 archives x 2 problems x 3 orders x 3 caps x 4 budgets x 2 rules.
    assert len(lines) == 1 + 2 * 2 * 3 * 3 * 4 * 2
    run(folder, "report", "--format", "md", "--archive", "*_low", "--out", tmp_path / "report")
    text = (tmp_path / "report" / "report.md").read_text().replace("\\", "")
    # All that is simulated in the database is still called so.
    assert text.count("simulated_high") == text.count("SIMULATED DATA (simulated_high")
    assert text.count("simulated_low") > 10


# Names.


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["tabel", "main"], "Did you mean 'table'?"),
        (["table", "curvs"], "did you mean 'curves'?"),
        (["query", "overshot"], "did you mean 'overshoot'?"),
        (["sql", "advisry"], "did you mean 'advisory'?"),
    ],
)
def test_a_misspelled_name_suggests_the_nearest(folder, arguments, part):
    assert part in run(folder, *arguments, status=2)


def test_the_database_may_stand_in_the_environment(folder, tmp_path):
    asked = ("query", "select count(*) as n from attempts", "--format", "csv")
    out, _ = read_streams(tmp_path, *asked, BUDGET_AUDIT_DB=str(folder / "audit.duckdb"))
    assert out == "n\n128\n"
    line = run(tmp_path, "table", "main", status=2)
    assert "audit.duckdb: no such database" in line


# Reading commands never write.


def test_reading_commands_write_nothing_and_say_what_to_run(folder, tmp_path):
    before = (folder / "audit.duckdb").read_bytes()
    line = run(folder, "table", "prefix_boxes", status=2)
    assert "have not been tokenized; run 'budget-audit tokenize'" in line
    _, error = read_streams(folder, "export", "--out", tmp_path / "all")
    (line,) = [line for line in error.splitlines() if "left out" in line]
    assert "left out: prefix_boxes: " in line and "run 'budget-audit tokenize'" in line
    read_streams(folder, "compare")
    assert (folder / "audit.duckdb").read_bytes() == before
    db = tmp_path / "counted.duckdb"
    db.write_bytes(before)
    run(folder, "table", "prefix_boxes", "--tokenize", "--db", db)
    run(folder, "table", "prefix_boxes", "--db", db)


def test_what_archive_majority_votes_on_is_said(folder, tmp_path):
    _, error = read_streams(folder, "table", "main")
    assert "answers: the last boxed answer;" in error
    _, error = read_streams(folder, "table", "selectors")
    assert "(archive_majority: the archive's own extraction)" in error
    db = tmp_path / "majority.duckdb"
    db.write_bytes((folder / "audit.duckdb").read_bytes())
    run(folder, "replay", "--db", db, "--orders", 2, "--replicates", 5,
        "--primary-selector", "archive_majority")  # fmt: skip
    _, error = read_streams(folder, "table", "main", "--db", db)
    assert "answers: the archive's own extraction (archive_majority);" in error
    assert "boxed" not in error
