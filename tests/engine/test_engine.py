"""The engine against the slow reference on random archives, and its promises in words."""

import random
import sys
from dataclasses import replace

import pytest

from audit import database, engine
from audit.engine.lazy import materialize
from audit.engine.plugins import Plugins, choose_plugins
from audit.engine.stages import LAZY, PORTIONED, TABLES
from audit.errors import AuditError
from audit.load.load import load
from tests.support.able import able
from tests.support.agreement import assert_agrees
from tests.support.archives import attempt, random_archive, random_settings, write_parquet
from tests.support.databases import SMALL, small_database, tables_of
from tests.support.databases import replayed_in_memory as replayed
from tests.support.plugins import EVERYTHING, FIRST, GRACE
from tests.support.slow import seeds


@pytest.mark.parametrize("seed", seeds(2, 5))
def test_engine_agrees_with_the_slow_reference_on_random_archives(tmp_path, seed):
    rng = random.Random(seed)
    rows = random_archive(rng)
    settings = able(rows, random_settings(rng))
    with replayed(tmp_path, rows, **settings) as con:
        assert_agrees(con, rows, settings)


def test_controls_count_every_replay_of_a_rule_that_returns_too_little(tmp_path):
    rows = [attempt(0, 100, "7", correct=True)]
    settings = {"budgets": [50, 100], "caps": [1], "primary_cap": 1, "orders": 3, "replicates": 1}
    rules = [
        replace(rule, sql=f"select * replace (0 as returned) from ({rule.sql}\n)")
        if rule.name == "strict"
        else rule
        for rule in Plugins().rules
    ]
    with replayed(tmp_path, rows, **settings) as con:
        assert [
            row["disagreements"] for row in engine.compute_table(con, "controls").to_pylist()
        ] == [0, 0]
        found = con.execute(engine.render("controls", replace(Plugins(), rules=rules))).fetchall()
    # Four orders, two budgets: both are moved to the one boundary, and each is a replay.
    assert [row[:4] for row in found] == [
        ("aligned_cost", "majority", 8, 8),
        ("completed_prefix", "majority", 8, 8),
    ]


# One problem, costs 10 20 30 in canonical order. By eye:
#   budget  5: strict returns nothing, pays 5; advisory returns 1 (cost 10)
#   budget 10: exact hit: both return 1 attempt and pay 10
#   budget 30: exact hit after two: both return 2 and pay 30
#   budget 31: strict returns 2, pays 31, 1 of it for a prefix; advisory returns 3, pays 60
#   budget 99: the bank ends first: both return 3 and pay 60
LEDGER = {
    (5, "strict"): (1, 0, 5, 5),
    (5, "advisory"): (1, 1, 10, 0),
    (10, "strict"): (1, 1, 10, 0),
    (10, "advisory"): (1, 1, 10, 0),
    (30, "strict"): (2, 2, 30, 0),
    (30, "advisory"): (2, 2, 30, 0),
    (31, "strict"): (3, 2, 31, 1),
    (31, "advisory"): (3, 3, 60, 0),
    (99, "strict"): (3, 3, 60, 0),
    (99, "advisory"): (3, 3, 60, 0),
}


def test_the_ledger_of_three_attempts_is_the_one_worked_out_by_hand(tmp_path):
    rows = [attempt(1, 10, "4"), attempt(2, 20, "5"), attempt(3, 30, "5", correct=True)]
    with replayed(
        tmp_path, rows, budgets=(5, 10, 30, 31, 99), caps=(9,), primary_cap=9, orders=0
    ) as con:
        found = con.execute(
            "select budget, rule, launched, returned, cost, prefix_cost from replays"
        ).fetchall()
        assert {(budget, rule): tuple(rest) for budget, rule, *rest in found} == LEDGER
        selected = con.execute(
            "select budget, rule, seed, answer, correct from selections where selector = 'majority'"
        ).fetchall()
    picks = {
        (budget, rule): (seed, answer, correct) for budget, rule, seed, answer, correct in selected
    }
    # One vote each after two attempts: the answer seen first stays. After three, 5 has two votes,
    # and its earliest attempt, seed 2, is the representative: its own label, false, counts.
    assert picks[5, "strict"] == (None, None, False)
    assert picks[30, "strict"] == (1, "4", False)
    assert picks[31, "advisory"] == (2, "5", False)


# default_rng(SeedSequence([20260904, 0, 3, 2])).permutation(8), and
# default_rng(20260905).multinomial(2, [1/2, 1/2], size=3) after replicate 0.
GOLDEN_ORDER = [3, 7, 4, 6, 1, 2, 0, 5]
GOLDEN_WEIGHTS = [(0, [1, 1]), (1, [1, 1]), (2, [2, 0]), (3, [2, 0])]


def test_the_order_and_bootstrap_streams_are_the_ones_pinned(tmp_path):
    rows = [attempt(seed, 10, "4", question=q) for q in (3, 5) for seed in range(8)]
    with replayed(tmp_path, rows, orders=2, replicates=3) as con:
        order = con.execute(
            "select list(slot order by position) from orders where question_id = 3 and repeat = 2"
        ).fetchall()
        weights = con.execute(
            "select replicate, counts from bootstrap_counts order by replicate"
        ).fetchall()
    assert order == [(GOLDEN_ORDER,)]
    assert weights == GOLDEN_WEIGHTS


def test_shuffling_labels_changes_no_selection(tmp_path):
    rows = random_archive(random.Random(5))
    labels = [row["correct"] for row in rows]
    random.Random(6).shuffle(labels)
    shuffled = [{**row, "correct": label} for row, label in zip(rows, labels, strict=True)]
    assert shuffled != rows
    picks = []
    for name, archive in (("plain", rows), ("shuffled", shuffled)):
        with replayed(tmp_path, archive, name=name) as con:
            picks.append(
                con.execute(
                    "select * exclude (correct, repaired_correct) from selections order by all"
                ).fetchall()
            )
    assert picks[0] == picks[1]


def test_results_are_the_selections_and_replays_of_random_orders_at_the_primary_cap(tmp_path):
    keys = "archive, competition, question_id, repeat, budget, rule"
    at_cap = f"where repeat > 0 and cap = {SMALL['primary_cap']}"
    with small_database(tmp_path) as con:
        for columns, one, other in (
            ("selector, answer, correct", "", f"selections {at_cap}"),
            ("launched, returned, cost", "where selector = 'majority'", f"replays {at_cap}"),
        ):
            found, want = (
                con.sql(f"select {keys}, {columns} from {rows} order by all").fetchall()
                for rows in (f"results {one}", other)
            )
            assert found and found == want


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory):
    """A replayed database in which every refused replay leaves all as it was."""
    with small_database(tmp_path_factory.mktemp("unchanged")) as con:
        yield con


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"budgets": ()}, "--budgets"),
        ({"budgets": (0,)}, "--budgets"),
        ({"budgets": (10**16,)}, "--budgets"),
        ({"caps": (0,)}, "--caps"),
        ({"primary_cap": 0}, "--caps"),
        ({"orders": -1}, "--orders"),
        ({"orders": 10**17}, "--orders"),
        ({"replicates": 10**23}, "--replicates"),
        ({"caps": (2**31,)}, "--caps"),
        ({"primary_cap": 10**23}, "--caps"),
        ({"order_seed": -1}, "seeds"),
        (
            {"primary_selector": "best"},
            "there are archive_majority, .*first, last, majority, max_logprob",
        ),
    ],
)
def test_impossible_settings_are_refused_and_keep_the_old_replays(unchanged, settings, message):
    before = unchanged.sql("from replays order by all").fetchall()
    with pytest.raises(AuditError, match=message):
        engine.replay(unchanged, **{**SMALL, **settings})
    assert unchanged.sql("from replays order by all").fetchall() == before


def test_an_interrupted_replay_leaves_the_old_one(tmp_path):
    def interrupt(name, done, total):
        if name == "coverage":
            raise KeyboardInterrupt

    with small_database(tmp_path) as con:
        before = con.sql("from selections order by all").fetchall()
        with pytest.raises(KeyboardInterrupt):
            engine.replay(con, **{**SMALL, "budgets": (7,)}, progress=interrupt)
        assert con.sql("from selections order by all").fetchall() == before
        assert engine.compute_table(con, "main").num_rows > 0


def test_a_rule_and_a_selector_of_ones_own_are_one_file_each(tmp_path):
    for kind, name, sql in (("rules", "grace", GRACE), ("selectors", "earliest", FIRST)):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / f"{name}.sql").write_text(sql)
    rows = [
        attempt(1, 10, None),
        attempt(2, 10, "4"),
        attempt(3, 10, "5"),
        attempt(4, 10, "5", correct=True),
    ]
    own = {"rules": tmp_path / "rules", "selectors": tmp_path / "selectors"}
    with replayed(tmp_path, rows, budgets=(38,), caps=(9,), primary_cap=9, orders=1, **own) as con:
        found = con.execute(
            "select rule, selector, seed from selections "
            "where repeat = 0 and selector in ('earliest', 'majority')"
        ).fetchall()
        # 38 tokens: strict returns three attempts; a tenth more, 41, lets the fourth finish.
        assert set(found) == {
            ("strict", "earliest", 2), ("advisory", "earliest", 2), ("grace", "earliest", 2),
            ("strict", "majority", 2), ("advisory", "majority", 3), ("grace", "majority", 3),
        }  # fmt: skip
        assert "grace" in engine.compute_table(con, "curves")["rule"].to_pylist()
        assert "earliest" in engine.compute_table(con, "selectors")["selector"].to_pylist()


def rows_without(con, rule):
    """The rows of some relations and tables, those of a rule aside."""
    tables = tables_of(con, ("main", "curves", "selectors", "budget_curve", "matched_cost"))
    relations = {name: con.sql(f"from {name} order by all") for name in ("replays", "selections")}
    return {
        name: [row for row in rows.to_arrow_table().to_pylist() if row.get("rule") != rule]
        for name, rows in relations.items()
    } | {
        name: [row for row in rows.to_pylist() if row.get("rule") != rule]
        for name, rows in tables.items()
    }


@pytest.mark.parametrize(
    "policies", [pytest.param((), id="no policy", marks=pytest.mark.slow), "all"]
)
@pytest.mark.parametrize("seed", seeds(1, 2))
def test_banks_walked_a_few_at_a_time_give_the_same_rows(tmp_path, monkeypatch, seed, policies):
    rows = random_archive(random.Random(seed), archives=2, competitions=1, problems=2, attempts=12)
    with replayed(tmp_path, rows, **SMALL, policies=policies) as con:
        # All other stages are views of these.
        relations = [*TABLES, *LAZY]
        before = {name: con.sql(f"from {name} order by all").fetchall() for name in relations}
        monkeypatch.setattr(sys.modules["audit.engine.portions"], "PORTION_ROWS", 1)
        told = []
        seed_of_orders = {"order_seed": 1}
        engine.replay(con, **SMALL, **seed_of_orders)
        engine.replay(
            con,
            **SMALL,
            order_seed=20260904,
            progress=lambda name, done, total: told.append((done, total)),
        )
        # Lazy ones are filled a few banks at a time, too.
        materialize(con, LAZY)
        after = {name: con.sql(f"from {name} order by all").fetchall() for name in relations}
        assert [name for name in relations if after[name] != before[name]] == []
        ((banks,),) = con.execute("select count(*) from banks").fetchall()
        portioned = len({*PORTIONED} & {*TABLES})
        assert len(told) == len(TABLES) + (banks - 1) * portioned + 1
        assert [done for done, _ in told] == list(range(len(told)))
        temporary = con.sql("select table_name from duckdb_tables() where temporary").fetchall()
        assert temporary == []


@pytest.mark.parametrize("seed", seeds(1, 2))
def test_a_rule_of_ones_own_may_launch_beyond_every_budget_and_changes_no_other(tmp_path, seed):
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "everything.sql").write_text(EVERYTHING)
    with replayed(tmp_path, random_archive(random.Random(seed)), **SMALL) as con:
        before = rows_without(con, "everything")
        engine.replay(con, **SMALL, rules=tmp_path / "rules")
        assert rows_without(con, "everything") == before
        ((wrong,),) = con.execute(
            """
            with banks as (
                select archive, competition, question_id, count(*) as attempts
                from attempts
                group by all
            )
            select count(*)
            from replays
            inner join banks using (archive, competition, question_id)
            where rule = 'everything' and returned <> least(cap, attempts)
            """
        ).fetchall()
        assert wrong == 0


@pytest.mark.parametrize(
    ("kind", "name", "sql", "message"),
    [
        (
            "selectors",
            "peek",
            FIRST.replace("walked_attempts", "walked_attempts inner join grades on true"),
            "reads grades",
        ),
        (
            "selectors",
            "peek",
            FIRST.replace("walked_attempts", "read_csv('x.csv')"),
            r"reads read_csv\(\)",
        ),
        ("selectors", "majority", FIRST, "is built in"),
        ("selectors", "Bad-Name", FIRST, "lower-case"),
        ("selectors", "two", "drop table attempts", "not one select"),
        ("selectors", "broken", "select nothing from walked_attempts", r"selectors/broken\.sql: "),
        (
            "selectors",
            "elsewhere",
            FIRST.replace("    position,", "    position + 1000 as position,", 1),
            "at most one row per",
        ),
        (
            "selectors",
            "twice",
            FIRST.replace("    position,", "    greatest(position, 2) as position,", 1),
            "at most one row per",
        ),
        (
            "selectors",
            "beyond",
            FIRST.replace(
                "candidate_id",
                "last_value(candidate_id) over (partition by walk_id order by position "
                "rows between unbounded preceding and unbounded following) as candidate_id",
            ),
            r"beyond\.sql: .*up to position",
        ),
        (
            "selectors",
            "unfit",
            FIRST.replace(
                "candidate_id",
                "first_value(candidate_id) over (partition by walk_id order by position) "
                "as candidate_id",
            ).replace("where is_eligible", "qualify is_eligible"),
            "has a row itself",
        ),
        (
            "selectors",
            "wavering",
            FIRST.replace("where is_eligible", "where is_eligible and (position < 2 or slot > 1)"),
            "wherever it stands",
        ),
        (
            "rules",
            "walker",
            GRACE.replace("budgeted_attempts", "walked_attempts, budgets, caps"),
            "a rule may read only",
        ),
        (
            "rules",
            "greedy",
            GRACE.replace("as returned", "+ 1 as returned"),
            r"greedy\.sql: .*returned <= launched",
        ),
        # One replay alone has no cost.
        (
            "rules",
            "once",
            GRACE.replace(
                "least(", "if(walk_id = 0 and cap = 2 and budget = 10, null, 1) * least("
            ),
            r"once\.sql: .*and a cost",
        ),
        (
            "rules",
            "cheapest",
            "select walk_id, cap, min(budget) over () as budget, position as launched, "
            "position as returned, cumulative_cost as cost from last_launched",
            "exactly one row per",
        ),
        ("rules", "poor", "select walk_id, cap from last_launched", r"poor\.sql: gives no column"),
    ],
)
def test_a_bad_file_of_ones_own_is_refused_in_words(unchanged, tmp_path, kind, name, sql, message):
    folder = tmp_path / kind
    folder.mkdir()
    (folder / f"{name}.sql").write_text(sql)
    with pytest.raises(AuditError, match=message):
        engine.replay(unchanged, **SMALL, **{kind: folder})
    assert engine.compute_table(unchanged, "main").num_rows > 0


def test_a_folder_without_files_is_refused(tmp_path):
    with pytest.raises(AuditError, match=r"no \.sql file here"):
        choose_plugins("rules", str(tmp_path), {})


def test_tables_say_when_there_are_no_replays_or_stale_ones(tmp_path):
    rows = random_archive(random.Random(1))
    with replayed(tmp_path, rows) as con:
        write_parquet([attempt(1, 10, "4", archive="later")], tmp_path / "more.parquet")
        load(con, [str(tmp_path / "more.parquet")])
        with pytest.raises(AuditError, match="stale"):
            engine.compute_table(con, "main")
        assert engine.compute_table(con, "source_audit").num_rows > 0
        engine.replay(con, **SMALL)
        assert "later" in engine.compute_table(con, "main")["archive"].to_pylist()
    fresh = database.connect(tmp_path / "fresh.duckdb")
    load(fresh, [str(tmp_path / "more.parquet")])
    with pytest.raises(AuditError, match="no replays yet"):
        engine.compute_table(fresh, "main")
    fresh.close()
