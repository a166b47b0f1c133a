"""A run past one machine has the bytes of one machine, and does only what is missing."""

import json
from contextlib import nullcontext

import pytest

from audit.errors import AuditError
from audit.scale import plan, tasks
from tests.support.archives import attempt, write_parquet
from tests.support.command import run as process
from tests.support.command import run_inside as command
from tests.support.plugins import FIRST, GRACE
from tests.support.runs import (
    ALL_TABLES,
    DERIVED,
    SOME_TABLES,
    differing,
    done,
    exported,
    gathered,
    made,
    one_machine,
    planned,
)


@pytest.fixture(scope="module")
def all_expected(tmp_path_factory, sources):
    found = one_machine(tmp_path_factory.mktemp("one"), sources, tables=ALL_TABLES)
    files = {name: data for name, data in found.items() if name.endswith(".csv")}
    empty = [name for name, data in files.items() if data.count(b"\n") < 2]
    # Problems go by numbers here, no attempt has steps, and no policy or price is asked for.
    nothing = ("problem_names", "polic", "prices", "steps", "checkpoint")
    assert [name for name in empty if not name.startswith(nothing)] == []
    return found


@pytest.fixture(scope="module")
def expected(all_expected):
    left_out = {f"{name}.csv" for name in {*ALL_TABLES, *DERIVED} - {*SOME_TABLES}}
    return {name: data for name, data in all_expected.items() if name not in left_out}


def test_a_gathered_run_has_the_bytes_of_one_machine(tmp_path, whole, all_expected):
    found = gathered(whole, tmp_path, tables=ALL_TABLES)
    assert differing(found, all_expected) == []


@pytest.mark.slow
def test_policies_and_plug_ins_of_a_user_come_along(tmp_path, sources):
    for kind, name, sql in (("rules", "grace", GRACE), ("selectors", "earliest", FIRST)):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / f"{name}.sql").write_text(sql)
    asked = {kind: tmp_path / kind for kind in ("rules", "selectors")}
    asked |= {"primary_selector": "max_logprob", "policies": "all"}
    expected = one_machine(tmp_path / "one", sources, **asked)
    assert expected["policies.csv"].count(b"\n") > 2
    run_folder = planned(tmp_path / "run", sources, 2, **asked)
    for kind in ("rules", "selectors"):
        # What workers need is in the manifest.
        (tmp_path / kind).rename(tmp_path / f"{kind}-elsewhere")
    assert differing(gathered(made(run_folder), tmp_path / "gathered"), expected) == []


@pytest.mark.slow
@pytest.mark.parametrize("unlabelled", ["drop", "wrong"])
def test_missing_labels_are_settled_as_a_load_settles_them(tmp_path, unlabelled):
    sources = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for number, path in enumerate(sources):
        rows = [
            attempt(seed, 5 + seed, str(seed % 2), correct=seed % 2 == 0, archive=archive)
            | ({"text": "no box"} if archive == "mute" else {})
            | {"question_id": 2 * number + question}
            | ({"correct": None} if archive == "blind" or (archive, seed) == gap else {})
            for archive in ("blind", "partly", "seen", "mute")
            for question, gap in ((0, ("partly", 3)), (1, ()))
            for seed in range(5)
        ]
        write_parquet(rows, path)
    with pytest.raises(AuditError, match=r"archive 'partly': 2 of its 20 attempts have no label"):
        made(planned(tmp_path / "refused", sources, 2))
    reading = {"unlabelled": unlabelled}
    expected = one_machine(tmp_path / "one", sources, reading)
    assert b"no labels" in expected["below"]
    folder = made(planned(tmp_path / "run", sources, 2, reading))
    assert differing(gathered(folder, tmp_path / "gathered"), expected) == []


@pytest.mark.slow
def test_the_commands_do_what_one_machine_does(tmp_path, sources, expected):
    settings = ["--budgets", "10,20,45", "--caps", "2,4,9", "--primary-cap", "4"]
    settings += ["--orders", "3", "--replicates", "20", "--force"]
    command(tmp_path, "plan", *sources, "--out", "run", "--parts", 2, *settings)
    assert "1 extract(s) and 2 part(s) made" in process(tmp_path, "run", "run")
    assert "0 extract(s) and 0 part(s) made" in command(tmp_path, "run", "run")
    command(tmp_path, "gather", "run", "--db", "g.duckdb")
    assert differing(exported(tmp_path / "g.duckdb", tmp_path / "csv"), expected) == []
    # Random records do not fit, and that alone fails.
    assert "labels_shuffled" in command(tmp_path, "check", "--db", "g.duckdb", status=1)
    assert "already" in command(tmp_path, "gather", "run", "--db", "g.duckdb", status=2)
    texts = command(tmp_path, "table", "prefix_boxes", "--db", "g.duckdb", status=2)
    assert "needs the texts" in texts
    assert "needs texts" in command(tmp_path, "tokenize", "--db", "g.duckdb", status=2)
    texts = command(tmp_path, "query", "unboxed_texts", "--db", "g.duckdb", status=2)
    assert "reads texts" in texts
    more = command(tmp_path, "replay", "--budgets", "15", "--db", "g.duckdb")
    assert "replays" in more


def test_planning_again_changes_nothing_and_another_plan_is_refused(tmp_path, sources):
    folder = planned(tmp_path / "run", sources)
    before = (folder / "manifest.json").read_bytes()
    planned(folder, sources)
    assert (folder / "manifest.json").read_bytes() == before
    with pytest.raises(AuditError, match="the plan of another run"):
        planned(folder, sources, orders=2)
    content = json.loads(before)
    content["settings"]["orders"] = 9
    (folder / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(AuditError, match="has been changed since"):
        plan.read_manifest(folder)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--parts", "0"), "--parts"),
        (("--parts", "2", "--orders", "-1"), "--orders"),
        (("--parts", "2", "--primary-selector", "nobody"), "no selector 'nobody'"),
        (("--parts", "2", "--format", "nothing"), "no such format"),
        (("--parts", "2", "--answer", "regex:("), "not a regular expression"),
    ],
)
def test_a_plan_that_means_nothing_is_refused(tmp_path, sources, options, said):
    assert said in command(tmp_path, "plan", *sources, "--out", "run", *options, status=2)
    assert not (tmp_path / "run").exists()


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path, sources):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("mine")
    with pytest.raises(AuditError, match="a run needs a folder of its own"):
        planned(tmp_path / "mine", sources)


def test_an_attempt_that_occurs_twice_in_a_run_is_named_as_a_load_names_it(tmp_path):
    write_parquet([attempt(1, 5, "1"), attempt(2, 5, "1")], tmp_path / "a.parquet")
    write_parquet([attempt(3, 5, "1"), attempt(2, 5, "1")], tmp_path / "b.parquet")
    sources = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    with pytest.raises(AuditError, match=r"b.parquet: row 2, .* is already in a.parquet: row 2"):
        made(planned(tmp_path / "run", sources))
    with pytest.raises(AuditError, match=r"b.parquet: row 2, .* is already in a.parquet: row 2"):
        one_machine(tmp_path / "one", sources)


def test_a_file_that_has_changed_since_the_plan_is_refused(tmp_path):
    write_parquet([attempt(1, 5, "1")], tmp_path / "a.parquet")
    folder = planned(tmp_path / "run", [tmp_path / "a.parquet"])
    write_parquet([attempt(seed, 5, "1") for seed in range(9)], tmp_path / "a.parquet")
    with pytest.raises(AuditError, match="has changed or gone since the plan"):
        tasks.extract_files(folder, 0)


def test_a_mistake_in_a_file_ends_a_run_in_one_line(tmp_path):
    write_parquet([attempt(1, -5, "1")], tmp_path / "a.parquet")
    planned(tmp_path / "run", [tmp_path / "a.parquet"])
    assert "extract 0: a.parquet: row 1" in command(tmp_path, "run", "run", status=2)


def test_a_worker_with_another_version_or_other_sql_is_refused(tmp_path, sources, monkeypatch):
    folder = planned(tmp_path / "run", sources)
    here = plan.read_versions()
    with monkeypatch.context() as patch:
        patch.setattr(plan, "read_versions", lambda: here | {"numpy": "0.0"})
        with pytest.raises(AuditError, match=r"has numpy 0\.0, and the run was planned with"):
            tasks.extract_files(folder, 0)
        with pytest.raises(AuditError, match=r"has numpy 0\.0"):
            done(folder)
    monkeypatch.setattr(plan, "digest_sql", lambda: "0")
    with pytest.raises(AuditError, match="has SQL files 0, and the run was planned with"):
        tasks.part(folder, 0)


def test_small_files_are_read_together(tmp_path, sources, expected, monkeypatch):
    size = sources[0].stat().st_size
    monkeypatch.setattr("tests.support.runs.patch.object", lambda *_: nullcontext())
    monkeypatch.setattr(plan, "EXTRACT_BYTES", 2 * size + 1000)
    folder = planned(tmp_path / "run", sources, 1)
    assert plan.read_manifest(folder).extracts == [[0, 1], [2]]
    assert differing(gathered(made(folder), tmp_path), expected) == []
