"""A select over the sources is a source: what it may read, what it must return, what is kept."""

import hashlib
import json

import duckdb
import pyarrow as pa
import pytest

import audit
from audit.errors import AuditError
from tests.support.logs import lines

RUNS = [
    {
        "model": "m",
        "task": task,
        "trial": trial,
        "tokens_out": 10 + trial,
        "cost_usd": 0.25,
        "wall_ms": 1500,
        "error": None if trial else "timeout",
        "outcome": "passed" if trial else "failed",
        "answer": "12:30",
    }
    for task in "ab"
    for trial in range(2)
]
MAP = """
select model as archive, 'runs' as competition, task as question_id, trial as seed,
    tokens_out as completion_tokens, cost_usd as money, wall_ms / 1000 as "seconds",
    if(error is null, 'stop', 'error') as finish_reason, outcome = 'passed' as correct,
from source
"""


@pytest.fixture
def runs(tmp_path):
    """Runs as somebody writes them down."""
    return lines(tmp_path / "runs.jsonl", RUNS)


def load(sources, sql=None, **options):
    """Load into memory, and return the attempts with their labels."""
    con = duckdb.connect()
    audit.load(con, sources, sql=sql, **{"answer": "none"} | options)
    return con, con.execute(
        "select question_id, seed, completion_tokens, money, seconds, finish_reason, correct "
        "from attempts inner join labels using (archive, competition, question_id, seed) "
        "order by question_id, seed"
    ).fetchall()


EXPECTED = [
    (problem, trial, 10 + trial, 0.25, 1.5, ["error", "stop"][trial], trial == 1)
    for problem in range(2)
    for trial in range(2)
]


def test_a_select_loads_and_its_text_is_kept(runs, tmp_path):
    script = tmp_path / "map.sql"
    script.write_text(MAP)
    con, attempts = load(runs, script)
    assert attempts == EXPECTED
    file, rows, mapping = con.execute("select file, rows, mapping from sources").fetchall()[0]
    assert (file, rows) == ("runs.jsonl", 4)
    kept = json.loads(mapping)
    assert kept["sql"] == MAP.strip()
    assert kept["sql_sha256"] == hashlib.sha256(MAP.strip().encode()).hexdigest()


@pytest.mark.parametrize("kind", ["parquet", "csv", "json", "jsonl.gz", "arrow", "relation"])
def test_a_source_may_be_of_any_kind(tmp_path, kind):
    table = pa.Table.from_pylist(RUNS)
    path = tmp_path / f"runs.{kind}"
    with duckdb.connect() as con:
        source = con.from_arrow(table)
        if kind in ("parquet", "csv"):
            source.write_parquet(str(path)) if kind == "parquet" else source.write_csv(str(path))
        elif kind == "json":
            path.write_text(json.dumps(RUNS, indent=1))
        elif kind == "jsonl.gz":
            lines(path, RUNS)
        given = {"arrow": table, "relation": source}.get(kind, path)
        assert load(given, MAP)[1] == EXPECTED


def test_a_table_with_canonical_columns_needs_no_select():
    with duckdb.connect() as con:
        con.register("source", pa.Table.from_pylist(RUNS))
        table = con.sql(MAP).to_arrow_table()
    assert load(table)[1] == EXPECTED


def test_several_files_are_one_view_by_name_and_several_arguments_are_joined(tmp_path):
    lines(tmp_path / "a.jsonl", [{"late": 1} | row for row in RUNS[:2]])
    lines(tmp_path / "b.jsonl", RUNS[2:])
    labels = tmp_path / "labels.csv"
    labels.write_text("name,number,solved\na,0,false\na,1,true\nb,0,false\nb,1,true\n")
    sql = MAP.replace("outcome = 'passed'", "solved").replace(
        "from source", "from source_1 inner join source_2 on task = name and trial = number"
    )
    con, attempts = load([str(tmp_path / "?.jsonl"), labels], sql)
    assert attempts == EXPECTED
    assert con.execute("select distinct rows from sources").fetchall() == [(None,)]
    con, _ = load([tmp_path / "?.jsonl"], MAP.replace("select model", "select filename, model"))
    assert con.execute("select file, rows from sources").fetchall() == [
        ("a.jsonl", 2),
        ("b.jsonl", 2),
    ]


def test_a_column_of_its_own_called_filename_is_kept(tmp_path):
    path = lines(tmp_path / "runs.jsonl", [row | {"filename": "a"} for row in RUNS])
    assert load(path, MAP.replace("'runs' as", "filename as"))[1] == EXPECTED


def test_times_and_late_fractions_stay_as_they_are_written(tmp_path):
    rows = [RUNS[0] | {"trial": trial, "wall_ms": 1500} for trial in range(30_000)]
    rows.append(RUNS[1] | {"trial": 30_000, "wall_ms": 1.5, "outcome": 7})
    path = lines(tmp_path / "runs.jsonl", rows)
    sql = MAP.replace("as money", "as money, answer as archive_answer")
    con, attempts = load(path, sql.replace("outcome = 'passed'", "true"), answer="archive")
    assert attempts[-1][4] == 0.0015
    assert con.execute("select distinct answer from attempts where eligible").fetchall() == [
        ("12:30",)
    ]
    with pytest.raises(AuditError, match="--sql: Conversion Error"):
        load(path, MAP.replace("wall_ms / 1000", "if(trial < 30000, '1', outcome)::double"))
    late = "if(trial < 30000, '1', outcome) as correct"
    with pytest.raises(AuditError, match="row 30001, column correct: must be true or false"):
        load(path, MAP.replace("outcome = 'passed' as correct", late))


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("", "must be one select and nothing else, found 0"),
        ("select 1; select 2", "must be one select"),
        ("create table x as select 1", "must be one select"),
        ("copy (select 1) to 'x.csv'", "must be one select"),
        (f"{MAP} where false", "returns no rows"),
        ("select * from '{other}'", "it may read source and nothing else"),
        ("from read_text('/etc/passwd')", "it may read source and nothing else"),
        (MAP.replace("task as", "taks as"), "Candidate bindings: \"task\""),
        (MAP.replace("trial as seed", "trial"), "'trial' is no canonical column"),
        (MAP.replace("trial as seed,", ""), "missing column seed"),
        (MAP.replace("trial as seed", "0 as seed"), "row 2, column seed"),
        (MAP.replace("trial as seed", "trial as seed, filename").replace("tokens_out as", "-1 as"),
         r"row 1 \(runs.jsonl\), column completion_tokens: must be"),
    ],
)  # fmt: skip
def test_what_a_select_may_not_do_takes_one_line_and_changes_nothing(runs, tmp_path, sql, message):
    other = lines(tmp_path / "other.jsonl", RUNS)
    con, _ = load(runs, MAP)
    with pytest.raises(AuditError, match=message) as error:
        audit.load(con, runs, sql=sql.replace("{other}", str(other)), answer="none", replace=True)
    assert "\n" not in str(error.value)
    assert con.execute("select count(*) from attempts").fetchall() == [(4,)]


def test_describe_says_what_a_select_would_load(runs):
    assert audit.describe(runs, sql=MAP, answer="none").splitlines()[0] == "loads"
    refused = audit.describe(runs, sql="select task as question_id from source")
    assert refused.startswith("does not load yet: --sql: missing columns archive,")
    with pytest.raises(AuditError, match="--map and --sql exclude each other"):
        audit.load(duckdb.connect(), runs, sql=MAP, map={"seed": "trial"})


@pytest.mark.parametrize("is_select", [True, False])
def test_a_cost_and_an_arm_that_are_not_loaded_are_named(tmp_path, is_select):
    rows = [
        {"archive": "m", "competition": "c", "question_id": p, "seed": 2 * k + arm, "text": "x",
         "finish_reason": "stop", "completion_tokens": 10, "correct": (p + k + arm) % 2 == 0,
         "strategy": "ab"[arm], "tokens_billed": 20 + 2 * (k - 0.5)}
        for p in range(5) for k in range(2) for arm in range(2)
    ]  # fmt: skip
    path = lines(tmp_path / "runs.jsonl", rows)
    names = [name for name in rows[0] if name not in ("strategy", "tokens_billed")]
    sql = "select " + ", ".join(f"{name} as {name}" for name in names) + " from source"
    con = duckdb.connect()
    summary = audit.load(con, path, sql=sql if is_select else None, answer="none")
    told = "\n".join(summary.notes)
    assert "is not loaded: tokens_billed (2 times what is loaded)" in told
    assert "splits the repeats of a problem, and is not loaded: strategy" in told
    checks = con.execute(
        'select "check", count, total from quality_counts '
        "where \"check\" in ('unused_cost_columns', 'repeats_told_apart_by') order by all"
    )
    assert checks.fetchall() == [
        ("repeats_told_apart_by", 20, 20),
        ("unused_cost_columns", 20, 20),
    ]
