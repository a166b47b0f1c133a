"""Walks are whole and kept; budgets, rules, replicates and smaller caps are looked up in them."""

import json
import random
import shutil
import sys
from dataclasses import fields, replace

import pytest

from audit import database, engine
from audit.engine.settings import Settings, walk_fingerprint
from audit.engine.stages import WALKED
from audit.errors import AuditError
from audit.load.load import load
from tests.support.archives import attempt, random_archive, write_parquet
from tests.support.databases import SMALL, small_database, small_rows, tables_of
from tests.support.databases import replayed as replayed_in_a_file
from tests.support.databases import replayed_in_memory as replayed
from tests.support.ledger import ledger_archive
from tests.support.plugins import EVERYTHING, FIRST, GRACE

# Each table is computed from relations: some of them in every test, and all where it matters.
SOME_TABLES = ("main", "matched_cost")
# Quality is of all that is loaded, not of what is replayed.
ALL_TABLES = [name for name in engine.table_names() if name not in ("prefix_boxes", "data_quality")]


def every_row(con, tables=SOME_TABLES):
    """The rows of what users read."""
    names = ("replays", "selections", "prefixes", "orders", "results", "tallies")
    names += ("answer_changes", "cost_changes")
    rows = {name: con.sql(f"from {name} order by all").fetchall() for name in names}
    return rows | {name: table.to_pylist() for name, table in tables_of(con, tables).items()}


def sql_with(folder, kind, name, sql):
    """The project's SQL files with one more of a kind, as if it were built in."""
    shutil.copytree(engine.resource("sql"), folder)
    (folder / kind / f"{name}.sql").write_text(sql)
    return folder


def pretend(monkeypatch, folder):
    """Have the engine read its SQL files from this folder."""
    real = engine.resource

    def elsewhere(name):
        return folder if name == "sql" else real(name)

    for module in ("sql_files", "plugins", "build"):
        monkeypatch.setattr(sys.modules[f"audit.engine.{module}"], "resource", elsewhere)
    forget_files()


def forget_files():
    """Have the engine read its SQL files again."""
    for cached in ("_stage_files", "text"):
        getattr(sys.modules["audit.engine.sql_files"], cached).cache_clear()
    sys.modules["audit.engine.build"]._templates.cache_clear()


@pytest.fixture
def built_in_again():
    """Forget SQL files read from elsewhere once the test is over."""
    yield
    forget_files()


def test_a_rule_gives_the_same_numbers_built_in_and_of_ones_own(
    tmp_path, monkeypatch, built_in_again, name="grace", sql=GRACE
):
    rows = random_archive(random.Random(7))
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / f"{name}.sql").write_text(sql)
    with replayed(tmp_path, rows, "own", rules=tmp_path / "rules") as con:
        own = every_row(con)
    with monkeypatch.context() as patch:
        pretend(patch, sql_with(tmp_path / "sql", "rules", name, sql.rstrip().rstrip(";")))
        with replayed(tmp_path, rows, "built_in", rules=name) as con:
            assert every_row(con) == own


@pytest.mark.parametrize(
    ("kind", "name", "sql", "message"),
    [
        ("selectors", "broken", "-- broken: no column.\n-- grain: x\nselect x from walked_attempts",
         "Binder Error"),
        ("rules", "broken", "-- broken: no such column.\n-- grain: x\nselect x from last_launched",
         "Binder Error"),
    ],
)  # fmt: skip
def test_a_wrong_file_of_the_projects_own_is_blamed_by_its_own_path(
    tmp_path, monkeypatch, built_in_again, kind, name, sql, message
):
    with monkeypatch.context() as patch:
        pretend(patch, sql_with(tmp_path / "sql", kind, name, sql))
        with (
            pytest.raises(AuditError, match=rf"^sql/{kind}/{name}\.sql( \(or .+\))?: .*{message}"),
            replayed(tmp_path, random_archive(random.Random(7)), **{kind: name}),
        ):
            pass


@pytest.mark.parametrize("name", ["budgeted_attempts", "last_launched"])
def test_a_wrong_file_that_rules_read_is_blamed_and_not_the_rule(
    tmp_path, monkeypatch, built_in_again, name
):
    shutil.copytree(engine.resource("sql"), tmp_path / "sql")
    file = tmp_path / "sql" / "budgets" / f"{name}.sql"
    file.write_text(file.read_text().replace("cumulative_cost", "cumulative_costs", 1))
    with monkeypatch.context() as patch:
        pretend(patch, tmp_path / "sql")
        with (
            pytest.raises(AuditError, match=rf"^sql/budgets/{name}\.sql: Binder Error"),
            replayed(tmp_path, [attempt(1, 10, "4")]),
        ):
            pass


@pytest.mark.parametrize(
    ("changed", "tables"),
    [
        ({"budgets": (7, 11, 30, 999)}, SOME_TABLES),
        pytest.param({"budgets": (7, 11, 30, 999)}, ALL_TABLES, marks=pytest.mark.slow),
        pytest.param({"caps": (1, 3), "primary_cap": 3}, SOME_TABLES, marks=pytest.mark.slow),
        pytest.param({"replicates": 5}, SOME_TABLES, marks=pytest.mark.slow),
        ({"bootstrap_seed": 3}, SOME_TABLES),
        ({"rules": "everything"}, SOME_TABLES),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else f"{len(value)} tables",
)
def test_walks_that_are_there_are_reused_and_give_what_new_ones_give(tmp_path, changed, tables):
    rows = small_rows(random.Random(0))
    if "rules" in changed:
        (tmp_path / "rules").mkdir()
        (tmp_path / "rules" / "everything.sql").write_text(EVERYTHING)
        changed = {"rules": tmp_path / "rules"}
    with small_database(tmp_path / "again", 0) as con:
        assert engine.replay(con, **{**SMALL, **changed}).walks_reused
        again = every_row(con, tables)
    with replayed(tmp_path, rows, "new", **changed) as con:
        assert every_row(con, tables) == again


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """A replayed database to copy, and its rows."""
    folder = tmp_path_factory.mktemp("walked")
    rows = [
        attempt(seed, 10, "4", archive=name, competition=competition)
        for name in ("a1", "b")
        for competition in ("C", "D")
        for seed in range(12)
    ]
    with replayed_in_a_file(folder, rows):
        pass
    return folder / "small.duckdb", rows


@pytest.mark.slow
@pytest.mark.parametrize(
    "changed",
    [
        {"orders": 4},
        {"order_seed": 5},
        {"caps": (2, 4, 10)},
        {"primary_selector": "archive_majority"},
        {"selectors": "own"},
        {"unit": "total", "budgets": (10, 20, 45)},
        {"archives": ("a1",)},
        {"competitions": ("C",)},
        {"problems": (("C", 0),)},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_what_walks_depend_on_builds_them_anew(tmp_path, walked, changed):
    path, rows = walked
    if "selectors" in changed:
        (tmp_path / "selectors").mkdir()
        (tmp_path / "selectors" / "earliest.sql").write_text(FIRST)
        changed = {"selectors": tmp_path / "selectors"}
    with database.opened(shutil.copy(path, tmp_path / "again.duckdb"), write=True) as con:
        assert not engine.replay(con, **{**SMALL, **changed}).walks_reused
        again = every_row(con)
    with replayed(tmp_path, rows, "new", **changed) as con:
        assert every_row(con) == again


def test_a_selector_of_another_text_builds_walks_anew(tmp_path):
    rows = [attempt(seed, 10 + seed % 3, str(seed % 2), correct=seed == 2) for seed in range(9)]
    own = {"selectors": tmp_path / "selectors"}
    own["selectors"].mkdir()
    (own["selectors"] / "mine.sql").write_text(FIRST)
    with replayed(tmp_path, rows, "again", **own) as con:
        assert engine.replay(con, **own).walks_reused
        (own["selectors"] / "mine.sql").write_text(FIRST.replace("min(position)", "max(position)"))
        assert not engine.replay(con, **own).walks_reused
        again = every_row(con)
    with replayed(tmp_path, rows, "new", **own) as con:
        assert every_row(con) == again


def test_a_cap_beyond_the_walks_builds_them_anew(tmp_path):
    with replayed(tmp_path, [attempt(seed, 10, "4") for seed in range(12)]) as con:
        assert engine.replay(con, budgets=(1000,), caps=(9,)).walks_reused
        assert not engine.replay(con, caps=(10,)).walks_reused
        assert con.sql("select max(launched) from replays").fetchall() == [(10,)]


def behind_walks():
    """The files that kept tables are made from, directly or through others."""
    return sorted(sys.modules["audit.engine.build"].sources(WALKED, engine.Plugins()))


def test_what_is_kept_is_made_from_keys_walks_and_labels():
    files = {engine.stage_file(name) for name in behind_walks()}
    assert {"evaluation/coverage.sql", "evaluation/candidate_grades.sql"} <= files
    assert {"walks/walked_attempts.sql", "walks/prefix_selections.sql"} <= files
    assert {file.partition("/")[0] for file in files} == {"keys", "walks", "evaluation"}


def test_walks_of_other_files_are_not_reused(tmp_path, monkeypatch, built_in_again):
    settings, found = Settings(), engine.Plugins()
    before = walk_fingerprint(settings, found)
    shutil.copytree(engine.resource("sql"), tmp_path / "sql")
    files = {name: tmp_path / "sql" / engine.stage_file(name) for name in behind_walks()}
    pretend(monkeypatch, tmp_path / "sql")
    assert walk_fingerprint(settings, found) == before
    for name, file in files.items():
        text = file.read_text()
        file.write_text(text + "-- Written otherwise.\n")
        forget_files()
        assert walk_fingerprint(settings, found) != before, name
        file.write_text(text)


# Each setting with another value: whether walks depend on it, or it is looked up in them.
WALKED_WITH = {
    "unit": "total",
    "orders": 7,
    "order_seed": 7,
    "primary_selector": "max_logprob",
    "archives": ("x",),
    "competitions": ("x",),
    "problems": (("x", 1),),
}
LOOKED_UP = {
    "budgets": (7,),
    "add_budgets": (7,),
    "caps": (1, 2),
    "primary_cap": 2,
    "replicates": 7,
    "bootstrap_seed": 7,
    "curve_points": 7,
    "effect": 7.0,
    # In another unit than money, prices are kept and not looked at.
    "prices": (("a", 1, 2, 3),),
}


def test_walks_are_keyed_by_every_setting_that_they_depend_on():
    found = engine.Plugins()
    before = walk_fingerprint(Settings(), found)
    for name, value in {**WALKED_WITH, **LOOKED_UP}.items():
        other = walk_fingerprint(replace(Settings(), **{name: value}), found)
        assert (other != before) == (name in WALKED_WITH), name
    paid = replace(Settings(), unit="money")
    priced = replace(paid, prices=(("a", 1, 2, 3),))
    assert walk_fingerprint(paid, found) != walk_fingerprint(priced, found)
    # Plug-ins go by what they are, not by how they were asked for.
    plugged = {"rules", "selectors", "policies"}
    assert {field.name for field in fields(Settings)} == {*WALKED_WITH, *LOOKED_UP, *plugged}


def test_a_load_makes_walks_anew_and_keeps_the_settings(tmp_path):
    with replayed(tmp_path, [attempt(seed, 10, "4") for seed in range(4)]) as con:
        write_parquet([attempt(1, 10, "4", archive="later")], tmp_path / "more.parquet")
        load(con, [str(tmp_path / "more.parquet")])
        done = engine.replay(con)
        assert not done.walks_reused
        assert (done.settings.budgets, done.settings.caps) == ((10, 20, 45), (2, 4, 9))
        assert "later" in engine.table(con, "main")["archive"].to_pylist()


def test_an_option_given_once_more_changes_only_itself(tmp_path):
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "grace.sql").write_text(GRACE)
    rows = [attempt(seed, 10, "4") for seed in range(4)]
    with replayed(tmp_path, rows, rules=tmp_path / "rules") as con:
        (tmp_path / "rules" / "grace.sql").unlink()
        done = engine.replay(con, orders=2)
        assert done.settings.orders == 2 and done.settings.budgets == (10, 20, 45)
        assert "grace" in engine.table(con, "curves")["rule"].to_pylist()


@pytest.mark.parametrize(
    "tables",
    [("main", "by_competition", "pools"), pytest.param(ALL_TABLES, marks=pytest.mark.slow)],
    ids=["some", "all"],
)
def test_a_filtered_replay_is_a_replay_of_those_records_alone(tmp_path, tables):
    rows = [
        attempt(seed, 10 + seed * question, str(seed % 3), correct=seed % 3 == 1, archive=archive,
                question=question, competition=competition)
        for archive in ("a", "b", "c")
        for competition in ("C", "D")
        for question in (0, 1, 2)
        for seed in range(6)
    ]  # fmt: skip
    kept = [row for row in rows if row["competition"] == "D" and row["question_id"] > 0]
    kept = [row for row in kept if row["archive"] != "c"]
    records = ("source_audit", "grade_conflicts", "grade_repairs")
    asked = {"archives": ("a", "b"), "problems": (("D", 1), ("D", 2))}
    with replayed(tmp_path, rows, "all", **asked) as con:
        filtered = every_row(con, tables)
    with replayed(tmp_path, kept, "some") as con:
        alone = every_row(con, tables)
    assert [name for name in alone if name not in records and alone[name] != filtered[name]] == []


def test_a_users_own_relation_is_never_replaced(tmp_path):
    rows = [attempt(seed, 10, "4") for seed in range(4)]
    with replayed(tmp_path, rows) as con:
        con.execute('create table "my notes" as select 1 as note')
        con.execute("create view mine as select count(*) as n from attempts")
        engine.replay(con, orders=2)
        assert con.sql('from "my notes"').fetchall() == [(1,)]
        assert con.sql("from mine").fetchall() == [(4,)]
        con.execute("drop view results")
        con.execute("create table results as select 42 as mine")
        with pytest.raises(AuditError, match="'results' that budget-audit did not make"):
            engine.replay(con, orders=3)
        assert con.sql("from results").fetchall() == [(42,)]


def test_the_projects_own_plug_ins_keep_their_contracts(tmp_path):
    chosen = {"rules": "all", "selectors": "all", "policies": "all"}
    with replayed(tmp_path, ledger_archive(random.Random(0)), **chosen) as con:
        found = engine.replay(con).plugins
        for kind in (*chosen, "policy_rules"):
            assert not con.execute(engine.render(f"broken_{kind}", found)).fetchall()


def joined(plan):
    """The hashed side of every hash join in a plan: the tables that it is made from."""
    found = []

    def tables(node):
        own = [node["extra_info"]["Table"]] if "Table" in node["extra_info"] else []
        return own + [table for child in node["children"] for table in tables(child)]

    def walk(node):
        if node["name"].strip() == "HASH_JOIN":
            found.append({table.rpartition(".")[2] for table in tables(node["children"][1])})
        for child in node["children"]:
            walk(child)

    for node in plan:
        walk(node)
    return found


def test_a_second_replay_hashes_its_stops_and_not_all_selections(tmp_path):
    build = sys.modules["audit.engine.build"]
    plans = {}
    written = "set disabled_optimizers = 'join_order,build_side_probe_side'"
    with replayed(tmp_path, random_archive(random.Random(3)), **SMALL) as con:
        con.execute(written)
        for name in ("problem_scores", "problem_costs"):
            sql = build.render(name, engine.Plugins())
            plans[name] = json.loads(con.execute(f"explain (format json) {sql}").fetchall()[0][1])
        con.execute("reset disabled_optimizers")
        for plan in plans.values():
            assert not any("prefix_selections" in side for side in joined(plan))
        # The files ask for it, and other selects of the connection are not held to it.
        assert all("joins" in build.header(name) for name in plans)
        engine.replay(con, budgets=(5, 9))
        (setting,) = con.execute("select current_setting('disabled_optimizers')").fetchall()
        assert setting == ("",)


def test_without_a_policy_no_stop_is_computed_for_any():
    build = sys.modules["audit.engine.build"]
    assert "\n    and false\n" in build.render("policy_totals", engine.Plugins())
    some = engine.Plugins(policies=engine.plugins("policies"))
    assert "and false" not in build.render("policy_totals", some)
