"""Each command as a user runs it: what it prints, its exit status, one line per mistake."""

import json
import os
import subprocess
import sys

import pyarrow
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from audit import database, engine
from audit.cli import main
from tests.support.command import ROOT, read_streams
from tests.support.command import run_inside as run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Simulated archives, loaded and replayed once."""
    folder = tmp_path_factory.mktemp("cli")
    run(folder, "simulate", "--out", "archives", "--problems", 2, "--attempts", 10)
    run(folder, "load", "archives")
    run(folder, "replay", "--budgets", "4k,8_000,32000", "--caps", "4,8", "--primary-cap", 8,
        "--orders", 3, "--replicates", 50)  # fmt: skip
    return folder


def test_help_fits_a_terminal_of_80_columns():
    texts = {
        name: CliRunner().invoke(main, [*name, "--help"], env={"COLUMNS": "80"}).output
        for name in ((), *((name,) for name in main.commands))
    }
    assert not [line for line in texts[()].splitlines()[1:] if line.endswith("...")]
    assert max(len(line) for text in texts.values() for line in text.splitlines()) <= 80


def test_help_does_not_import_the_engine(folder):
    heavy = ("duckdb", "pyarrow", "numpy", "jinja2", "vl_convert")
    code = f"import sys, audit.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_tables_are_listed_whatever_the_database(folder):
    assert run(folder, "tables", "--db", "any.duckdb") == run(folder, "tables")


def test_a_table_imports_nothing_that_takes_longer_than_it(folder):
    slow = ("pyarrow.compute", "pyarrow.parquet", "altair", "audit.sources.columns")
    code = (
        "import sys, audit; audit.table('audit.duckdb', 'main'); "
        f"print([m for m in {slow} if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_version_is_the_distributions(folder):
    assert run(folder, "--version").startswith("budget-audit, version ")


def test_load_tells_what_came_in_and_refuses_it_a_second_time(folder):
    line = run(folder, "load", "archives", status=2)
    assert "already in the database" in line and "--replace" in line


def test_load_replace_makes_the_replays_stale_and_every_command_says_so(folder, tmp_path):
    db = tmp_path / "stale.duckdb"
    db.write_bytes((folder / "audit.duckdb").read_bytes())
    run(folder, "load", "archives", "--replace", "--db", db)
    for command in (["table", "main"], ["export", "--out", tmp_path / "x"], ["check"], ["compare"],
                    ["report", "--out", tmp_path / "y"], ["query", "select * from replays"],
                    ["timeline"]):  # fmt: skip
        assert "stale" in run(folder, *command, "--db", db, status=2), command
    run(folder, "query", "select count(*) from attempts", "--db", db)


def test_tables_lists_every_table_with_its_meaning(folder):
    lines = run(folder, "tables").splitlines()
    assert [line.split()[0] for line in lines] == engine.list_tables()
    assert all(len(line.split(None, 1)[1]) > 20 for line in lines)


def test_a_table_prints_in_every_format(folder):
    shown = run(folder, "table", "main")
    assert "[" in shown and "4k" in shown
    header, *rows = run(folder, "table", "main", "--format", "csv").splitlines()
    assert header.startswith("archive,budget,strict_accuracy") and len(rows) == 6
    assert len(json.loads(run(folder, "table", "main", "--format", "json"))) == 6
    assert run(folder, "table", "main", "--format", "md").startswith("| archive")
    assert r"\toprule" in run(folder, "table", "main", "--format", "tex")
    assert "there are answer_agreement" in run(folder, "table", "mian", status=2)


def test_a_table_says_how_answers_costs_and_labels_came_about(folder):
    _, error = read_streams(folder, "table", "main")
    assert error.startswith(
        "SIMULATED DATA (simulated_high, simulated_low); answers: the last boxed answer; "
        "completion tokens recorded; labels: as recorded\n"
    )


def test_simulated_data_is_called_so_under_another_name(folder, tmp_path):
    db = tmp_path / "renamed.duckdb"
    source = "archives/simulated_low.parquet"
    run(folder, "load", source, "--archive", "my-model", "--db", db)
    for command in (["query", "from attempts"], ["load", source, "--archive", "b", "--db", db]):
        _, error = read_streams(folder, *command, *([] if "--db" in command else ["--db", db]))
        assert "SIMULATED DATA" in error and "my-model" in error


def test_an_empty_table_says_why(folder, tmp_path):
    db = tmp_path / "canonical.duckdb"
    db.write_bytes((folder / "audit.duckdb").read_bytes())
    run(folder, "replay", "--db", db, "--orders", 0)
    out, error = read_streams(folder, "table", "main", "--db", db)
    assert "(no rows)" in out and "--orders 0" in error


def test_a_reader_that_has_seen_enough_is_no_error(folder):
    command = f"{sys.executable} -m audit query 'from attempts' --format csv"
    script = f"{command} | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1] == "0"
    assert "rror" not in done.stderr


def test_export_writes_every_table_or_the_named_ones(folder, tmp_path):
    run(folder, "export", "--out", tmp_path / "all")
    # prefix_boxes needs token counts, which this database does not have.
    written = {path.stem for path in (tmp_path / "all").glob("*.csv")}
    assert set(engine.list_tables()) - written <= {"prefix_boxes"}
    run(folder, "export", "attempts", "replays", "--out", tmp_path / "some", "--format", "parquet")
    files = sorted(path.name for path in (tmp_path / "some").iterdir())
    assert files == ["attempts.parquet", "replays.parquet"]
    replays = pyarrow.parquet.read_table(tmp_path / "some" / "replays.parquet")
    # 2 archives x 8 problems x 4 orders x 2 caps x 3 budgets x 2 rules
    assert replays.num_rows == 2 * 8 * 4 * 2 * 3 * 2
    assert "there are" in run(folder, "export", "nothing", "--out", tmp_path, status=2)


def test_check_passes_on_sound_data_and_fails_on_a_forged_ledger(folder, tmp_path):
    assert "labels_shuffled" in run(folder, "check")
    db = tmp_path / "forged.duckdb"
    db.write_bytes((folder / "audit.duckdb").read_bytes())
    con = database.connect(db)
    con.execute(
        "update walked set cumulative_cost = cumulative_cost + 1; "
        "update primary_picks set until_position = 2 where from_position = 1"
    )
    con.close()
    found = json.loads(run(folder, "check", "--db", db, "--format", "json", status=1))
    rows = {row["check"]: row["violations"] for row in found}
    assert rows["ledger_adds_up"] > 0
    assert rows["labels_shuffled"] > 0
    assert rows["equal_launches"] == 0


def test_compare_on_simulated_archives_says_so_and_exits_zero(folder):
    out, error = read_streams(folder, "compare")
    assert "The data are simulated: simulated_high, simulated_low" in error
    # Of each table stands below how many values are equal, different and not computed.
    summary = out[out.rindex("published") :].splitlines()[2:]
    counts = [[int(cell) for cell in line.split()[1:]] for line in summary if line]
    assert sum(row[0] for row in counts) == 386
    assert all(row[0] == sum(row[1:]) for row in counts)


@pytest.mark.slow
def test_compare_fails_when_archives_of_the_studys_shape_give_other_values(tmp_path):
    run(tmp_path, "simulate", "--out", "archives")
    for effort in ("low", "high"):
        path = tmp_path / "archives" / f"simulated_{effort}.parquet"
        table = pyarrow.parquet.read_table(path).replace_schema_metadata()
        names = pyarrow.array([f"gpt-oss-20b_{effort}"] * table.num_rows)
        at = table.schema.get_field_index("archive")
        pyarrow.parquet.write_table(table.set_column(at, "archive", names), path)
    run(tmp_path, "load", "archives")
    run(tmp_path, "replay", "--orders", 3, "--replicates", 20)
    rows = json.loads(run(tmp_path, "compare", "--format", "json", "--tokenize", status=1))
    assert len(rows) == 386
    assert not [row for row in rows if row["computed"] is None]
    # The simulation is calibrated on these counts, so they must come out as published.
    audit = [row for row in rows if row["table"] == "source_audit"]
    assert len(audit) == 40 and all(row["equal"] for row in audit)
    assert not all(row["equal"] for row in rows if row["table"] == "main")


def test_sql_prints_the_rendered_sql_of_a_stage(folder):
    assert "standing" in run(folder, "sql", "primary_picks")
    assert "last_launched" in run(folder, "sql", "strict")
    assert "there are" in run(folder, "sql", "nothing", status=2)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["replay", "--budgets", "four"], "'four' is not a number like 4000, 4_000, 4.5k or 1e6"),
        (["replay", "--budgets", "8k,16,000"], "did you mean 16000? a comma separates budgets"),
        (["replay", "--budgets", ""], "at least one budget"),
        (["replay", "--budgets", "0"], "above 0"),
        (["replay", "--caps", "0"], "above 0"),
        (["replay", "--primary-selector", "best"], "no selector 'best'"),
        (["replay", "--rules", "nowhere"], "no rule or folder 'nowhere'"),
        (["replay", "--db", "none.duckdb"], "no such database"),
        (["replay", "--threads", "0"], "--threads"),
        (["replay", "--memory", "much"], "--memory"),
        (["table", "main", "--db", "none.duckdb"], "no such database"),
        (["table"], "Missing argument"),
        (["table", "main", "--format", "xml"], "--format"),
        (["frobnicate"], "No such command"),
        (["load", "archives", "--map", "seed"], "name=value"),
        (["load", "nowhere.parquet"], "nowhere.parquet"),
        (["simulate", "--out", "x", "--problems", "0"], "problems"),
        (["report", "--out", "x", "--format", "doc"], "doc"),
        (["report", "--out", "audit.duckdb"], "is a file"),
        (["timeline", "--budget", "0"], "a budget is above 0"),
    ],
)
def test_a_mistake_gets_one_line_and_status_two(folder, arguments, part):
    before = (folder / "audit.duckdb").read_bytes()
    assert part in run(folder, *arguments, status=2)
    assert (folder / "audit.duckdb").read_bytes() == before


@pytest.mark.parametrize("text", ["not a database", "a,b\n1,2\n"])
def test_a_file_that_is_no_database_is_refused_in_one_line(folder, tmp_path, text):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    for command in (["table", "main"], ["replay"], ["load", "archives"], ["query", "select 1"]):
        line = run(folder, *command, "--db", path, status=2)
        assert "rows.csv" in line and "not a DuckDB database" in line
    assert path.read_text() == text
