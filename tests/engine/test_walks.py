"""What a replay after another one keeps, and what is made anew."""

import random

import pytest

from audit import database, engine
from audit.errors import AuditError
from audit.load import provenance
from audit.load.load import load
from tests.support.archives import attempt, write_parquet
from tests.support.databases import replayed_in_memory as replayed
from tests.support.databases import tables_of
from tests.support.ledger import ledger_archive
from tests.support.plugins import EVERYTHING

# Each table is computed from relations: some of them in every test, and all where it matters.
SOME_TABLES = ("main", "matched_cost")
ALL_TABLES = [name for name in engine.list_tables() if name != "prefix_boxes"]


def every_row(con, tables=SOME_TABLES):
    """The rows of what users read."""
    names = ("replays", "selections", "prefixes", "orders", "results", "tallies")
    names += ("answer_changes", "cost_changes")
    rows = {name: con.sql(f"from {name} order by all").fetchall() for name in names}
    return rows | {name: table.to_pylist() for name, table in tables_of(con, tables).items()}


@pytest.mark.parametrize(
    "changed",
    [
        {"budgets": (7, 11, 30, 999)},
        {"add_budgets": (7,)},
        {"caps": (1, 3), "primary_cap": 3, "bootstrap_seed": 3},
        {"primary_selector": "archive_majority", "rules": "everything"},
        {"archives": ("a1",)},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_second_replay_gives_what_a_first_one_gives(tmp_path, changed):
    if "rules" in changed:
        (tmp_path / "rules").mkdir()
        (tmp_path / "rules" / "everything.sql").write_text(EVERYTHING)
        changed = {**changed, "rules": tmp_path / "rules"}
    rows = [
        attempt(seed, 5 + 3 * seed, str(seed % 2), archive=name, correct=seed % 2 == 1)
        for name in ("a1", "b")
        for seed in range(7)
    ]
    with replayed(tmp_path, rows, "again") as con:
        engine.replay(con, **changed)
        again = every_row(con)
    with replayed(tmp_path, rows, "new", **changed) as con:
        assert every_row(con) == again


def test_walks_stay_where_only_smaller_budgets_are_others(tmp_path):
    rows = [attempt(seed, 5 + 3 * seed, str(seed % 2)) for seed in range(7)]
    told = []
    with replayed(tmp_path, rows) as con:
        for changed, is_walked_again in (
            ({"add_budgets": (7,)}, False),
            ({"add_budgets": (999_999,)}, True),
            ({"add_budgets": (8,), "orders": 5}, True),
            ({"add_budgets": (9,), "primary_selector": "first"}, True),
            ({}, True),
        ):
            told.clear()
            engine.replay(con, progress=lambda *step: told.append(step), **changed)
            made = {name for name, _, _ in told}
            assert "problem_costs" in made and told[-1][1] == told[-1][2]
            walked = ("walked" in made, "drawn_orders" in made)
            assert walked == (is_walked_again, is_walked_again), changed


def test_a_replay_after_a_load_reads_it_and_keeps_the_settings(tmp_path):
    with replayed(tmp_path, [attempt(seed, 10, "4") for seed in range(4)]) as con:
        write_parquet([attempt(1, 10, "4", archive="later")], tmp_path / "more.parquet")
        load(con, [str(tmp_path / "more.parquet")])
        done = engine.replay(con)
        assert (done.settings.budgets, done.settings.caps) == ((10, 20, 45), (2, 4, 9))
        assert "later" in engine.compute_table(con, "main")["archive"].to_pylist()


@pytest.mark.parametrize(
    "tables",
    [
        ("main", "by_competition", "source_audit", "grade_conflicts", "data_quality"),
        pytest.param(ALL_TABLES, marks=pytest.mark.slow),
    ],
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
    asked = {"archives": ("a", "b"), "problems": (("D", 1), ("D", 2))}
    # What only the others have: answers in conflict, missing log-probabilities, an odd bank.
    rows += [attempt(9, 10**7, "1", correct=False, archive="a", question=0, competition="D")]
    with replayed(tmp_path, rows, "all", **asked) as con:
        filtered = every_row(con, tables)
        engine.replay(con, archives=(), problems=())
        assert con.execute("select count(*) from unreplayed_problems").fetchall() == [(0,)]
        assert "c" in engine.compute_table(con, "data_quality")["archive"].to_pylist()
    with replayed(tmp_path, kept, "some") as con:
        alone = every_row(con, tables)
    assert [name for name in alone if alone[name] != filtered[name]] == []


def test_one_run_per_problem_has_its_defaults_until_there_are_more(tmp_path):
    paths = {name: tmp_path / f"{name}.parquet" for name in "ab"}
    write_parquet([attempt(1, 10, "4", question=q) for q in range(2)], paths["a"])
    write_parquet([attempt(seed, 10, "4", archive="b") for seed in (1, 2)], paths["b"])
    with database.connect(":memory:") as con:
        load(con, [str(paths["a"])])
        settings = engine.replay(con, replicates=0).settings
        assert (settings.caps, settings.primary_cap, settings.orders) == ((1,), 1, 1)
        # What every such replay does is no fault of it.
        checks = engine.compute_table(con, "data_quality").to_pylist()
        quiet = ("ended_by_bank", "never_binds", "banks_below_cap")
        assert {row["severity"] for row in checks if row["check"].startswith(quiet)} == {"ok"}
        assert "one run per problem: advisory is no cap at all" in provenance.notes(con)
        load(con, [str(paths["b"])])
        settings = engine.replay(con).settings
        assert (settings.caps, settings.primary_cap, settings.orders) == ((8, 16, 32), 16, 20)
        assert "one run" not in provenance.notes(con)
        engine.replay(con, caps=(1,), primary_cap=1, orders=1)
        assert engine.replay(con).settings.caps == (1,)


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
