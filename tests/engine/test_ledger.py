"""Any unit, any step, any rule and any score: the engine against the slow reference."""

import random
import re
from fractions import Fraction

import duckdb
import pytest

from audit import engine
from audit.errors import AuditError
from audit.units import read_budgets
from tests import reference
from tests.reference.replays import ALL_RULES, weight
from tests.support.able import able
from tests.support.agreement import assert_agrees
from tests.support.archives import attempt, random_settings
from tests.support.awkward import awkward_archive
from tests.support.databases import replayed as replayed_in_a_file
from tests.support.databases import replayed_in_memory as replayed
from tests.support.databases import tables_of
from tests.support.ledger import BUDGETS, PRICES, ledger_archive, with_ledger
from tests.support.rows import differences, sort_key
from tests.support.slow import seeds

POLICIES = ("adaptive_consistency", "decided", "early_stopping", "lead_of_three")


def millionths(rows, prices=PRICES):
    """Prices of every archive of some rows, as a replay takes them."""
    whole = [int(Fraction(price) * 10**6) for price in prices]
    return tuple((name, *whole) for name in sorted({row["archive"] for row in rows}))


def random_run(rng, unit):
    """Settings of a replay in a unit, small enough for the reference."""
    chosen = {
        **random_settings(rng),
        "unit": unit,
        "budgets": sorted(rng.sample(BUDGETS[unit], rng.randint(2, 4)), key=str),
        "orders": rng.choice((1, 2, 3)),
        "replicates": rng.choice((0, 9, 9)),
        "curve_points": rng.choice((0, 5)),
        "rules": rng.choice(("all", "all", rng.sample(ALL_RULES, 2))),
        "policies": rng.choice(((), "all", rng.sample(POLICIES, 2))),
    }
    return chosen


SCORED = ("best_judge", "best_reward", "exp_vote_judge", "exp_vote_logprob", "exp_vote_reward")
EVERY_SELECTOR = (*SCORED, *reference.SELECTORS, "first", "last", "vote_reward")


# Every unit with a primary selector of another kind.
PRIMARY = {
    "completion": "exp_vote_judge",
    "total": "vote_reward",
    "money": "best_reward",
    "seconds": "last",
    "steps": "archive_majority",
}


@pytest.mark.parametrize("unit", BUDGETS)
@pytest.mark.parametrize("seed", seeds(1, 3))
def test_every_unit_and_rule_agrees_with_the_slow_reference(tmp_path, unit, seed):
    rng = random.Random(f"{unit} {seed}")
    # Some archives have no labels.
    rows = awkward_archive(rng, archives=2, competitions=2, attempts=4, missing=0, logprobs=True)
    rows = with_ledger(rng, rows)
    asked = {"primary_selector": PRIMARY[unit], "selectors": EVERY_SELECTOR}
    settings = able(rows, random_run(rng, unit) | asked)
    is_priced = unit == "money" and rng.random() < 0.6
    prices = {"prices": millionths(rows)} if is_priced else {}
    with replayed(tmp_path, rows, **settings, **prices) as con:
        settings["budgets"] = read_budgets(settings["budgets"], unit)
        if is_priced:
            settings["prices"] = {row["archive"]: PRICES for row in rows}
        assert_agrees(con, rows, settings)


def test_what_every_rule_pays_changes_step_by_step_as_in_the_slow_reference(tmp_path):
    rng = random.Random(2)
    rows = ledger_archive(rng, archives=1, problems=2, attempts=5)
    settings = {
        "budgets": (5, 30),
        "caps": (4,),
        "primary_cap": 4,
        "orders": 2,
        "replicates": 0,
        "rules": "all",
    }
    expected = reference.compute(rows, **settings)["cost_changes"]
    # Steps that an attempt begins later than with its launch, under each rule that pays for steps.
    later = [row for row in expected if row["cost_change"] and not row["launched_change"]]
    assert {row["rule"] for row in later} == {"step", "step_lost"}
    with replayed(tmp_path, rows, **settings) as con:
        found = con.sql("from cost_changes").to_arrow_table().to_pylist()
    found = [{column: row[column] for column in expected[0]} for row in found]
    both = sorted(expected, key=sort_key), sorted(found, key=sort_key)
    assert not list(differences(*both, list(expected[0])))[:3]


def test_a_count_that_a_step_lacks_is_nothing(tmp_path):
    steps = [{"completion_tokens": 10}, {"prompt_tokens": 5}, {"seconds": 1.0}]
    rows = [attempt(0, 10, "4", prompt_tokens=5, steps=steps), attempt(1, 20, "4", prompt_tokens=7)]
    with replayed(tmp_path, rows, unit="total", budgets=(15, 16)) as con:
        found = con.sql(
            "select slot, step, prompt_tokens, cached_tokens, completion_tokens from charges"
        ).fetchall()
    assert sorted(found) == [(0, 1, 0, 0, 10), (0, 2, 5, 0, 0), (0, 3, 0, 0, 0), (1, 1, 7, 0, 20)]


def test_usual_budgets_are_quantiles_of_what_attempts_cost_in_two_digits(tmp_path):
    # Seconds 1.0, 2.0, 3.0, 4.0 and 12.345: quantiles 1.4, 2, 3, 4 and 9.007.
    rows = [
        attempt(seed, 10, "4", seconds=seconds)
        for seed, seconds in enumerate((1.0, 2.0, 3.0, 4.0, 12.345))
    ]
    settings = {"budgets": None, "caps": (2,), "primary_cap": 2, "orders": 2, "replicates": 2}
    with replayed(tmp_path, rows, **settings, unit="seconds") as con:
        assert con.sql("select distinct budget from replays order by 1").fetchall() == [
            (1.4,), (2.0,), (3.0,), (4.0,), (9.0,),
        ]  # fmt: skip
        assert dict(con.sql("from settings").fetchall())["budgets"] == "1.4,2,3,4,9"
        # The same unit keeps its budgets, the study's come back with the study's unit.
        engine.replay(con, orders=1)
        assert con.sql("select count(distinct budget) from replays").fetchall() == [(5,)]
        engine.replay(con, unit="completion")
        assert con.sql("select min(budget), max(budget) from replays").fetchall() == [(4000, 32000)]


REFUSED = [
    ({"unit": "seconds"}, {"seconds": None}, r"1 of 3 attempts of archive a have no seconds"),
    ({"unit": "money"}, {"money": None}, r"1 of 3 attempts of archive a have no money; .*--prices"),
    ({"unit": "money", "prices": (("b", 1, 1, 1),)}, {}, r"no price for archive a"),
    ({"budgets": "$5"}, {}, r"\$ is for --unit money"),
    ({"unit": "seconds", "budgets": "0.0005"}, {}, r"finer than 0.001"),
    ({"unit": "francs"}, {}, r"--unit francs: must be"),
    ({"rules": "soft"}, {}, r"--rules: no rule or folder 'soft'"),
    ({"selectors": "best_nothing"}, {}, r"--selectors: no selector or folder 'best_nothing'"),
    ({"selectors": "vote_judge"}, {}, r"1 of 3 scores of archive a lie outside.*exp_vote_judge"),
    ({"primary_selector": "vote_x"}, {}, r"--primary-selector: no selector 'vote_x'"),
    ({"effect": 0.0}, {}, r"--effect"),
]


@pytest.mark.parametrize("lacking", [{}, {"seconds": None}, {"money": None}], ids=str)
def test_what_cannot_be_counted_is_refused_and_nothing_changes(tmp_path, lacking):
    rows = [
        attempt(seed, 10, "4", seconds=1.0, money=0.5, score_judge=1.0 - seed, correct=True)
        for seed in range(3)
    ]
    rows[2] |= lacking
    refused = [(asked, message) for asked, row, message in REFUSED if row == lacking]
    assert refused
    with replayed(tmp_path, rows, orders=1) as con:
        before = con.sql("from settings order by key").fetchall()
        stops = con.sql("from replays order by all").fetchall()
        for asked, message in refused:
            with pytest.raises(AuditError, match=message):
                engine.replay(con, **asked)
            assert con.sql("from settings order by key").fetchall() == before, asked
            assert con.sql("from replays order by all").fetchall() == stops, asked


# The policy that the README writes down.
CONFIDENT = re.search(
    r"```sql\n(-- confident: .*?)```",
    (engine.find_folder("sql") / "README.md").read_text(),
    re.DOTALL,
)[1]


@pytest.mark.parametrize("primary", ["vote_reward", "exp_vote_judge"])
def test_a_policy_may_read_the_weights_of_the_primary_selector(tmp_path, primary):
    rows = ledger_archive(random.Random(9), attempts=9, archives=2)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "confident.sql").write_text(CONFIDENT)
    settings = {"primary_selector": primary, "policies": str(tmp_path / "own"), "orders": 2}
    with replayed(tmp_path, rows, **settings) as con:
        found = con.sql(
            "select archive, competition, question_id, repeat, position, leader_weight, "
            "runner_up_weight, weight from tallies order by all"
        ).fetchall()
        stops = con.sql(
            "select archive, competition, question_id, repeat, cap, stop_position "
            "from policy_stops where policy = 'confident' order by all"
        ).fetchall()
    orders = reference.ordered_attempts(rows, 2)
    first = {}
    for *key, position, leader, second, every in found:
        order = orders[tuple(key)]
        totals = {}
        for one in order[:position]:
            if (vote := reference.ballot(one, primary)) is not None:
                totals[vote] = totals.get(vote, 0) + weight(one, primary, order)
        ranked = [*sorted(totals.values(), reverse=True), 0, 0]
        expected = [ranked[0] / 1e9, ranked[1] / 1e9, sum(ranked) / 1e9]
        assert [leader, second, every] == pytest.approx(expected, abs=1e-9)
        if position >= 3 and ranked[0] and 100 * ranked[0] >= 95 * sum(ranked):
            first.setdefault(tuple(key), position)
    assert first
    for *key, cap, stop in stops:
        reached = first.get(tuple(key))
        assert stop == (reached if reached is not None and reached <= cap else None)


def test_votes_that_are_not_weighed_have_no_weight(tmp_path):
    with replayed(tmp_path, ledger_archive(random.Random(2))) as con:
        assert con.sql("select count(*), count(leader_weight) from tallies").fetchall()[0][1] == 0
        assert con.sql("select count(*) from tallies").fetchall()[0][0] > 0


def test_realized_money_stands_beside_tokens_where_there_are_prices(tmp_path):
    # $1, $0.5 and $2 for a million prompt, cached and completion tokens.
    rows = [
        attempt(seed, 100, "4", prompt_tokens=30, cached_tokens=10, correct=True)
        for seed in range(2)
    ]
    settings = {"budgets": (50, 150), "caps": (2,), "primary_cap": 2, "orders": 1}
    query = "select distinct budget, rule, money from results order by all"
    with replayed(tmp_path, rows, **settings) as con:
        assert {row[2] for row in con.sql(query).fetchall()} == {None}
        engine.replay(con, prices=millionths(rows, (1, "0.5", 2)))
        prompt = (20 * 1 + 10 * 0.5) / 10**6
        assert con.sql(query).fetchall() == [
            (50, "advisory", pytest.approx(prompt + 200 / 10**6)),
            (50, "strict", pytest.approx(prompt + 100 / 10**6)),
            (150, "advisory", pytest.approx(2 * prompt + 400 / 10**6)),
            (150, "strict", pytest.approx(2 * prompt + 300 / 10**6)),
        ]


@pytest.mark.parametrize("seed", seeds(1, 2))
def test_tasks_without_an_answer_agree_with_the_slow_reference(tmp_path, seed):
    rng = random.Random(seed)
    rows = ledger_archive(rng, problems=2, attempts=5)
    primary = rng.choice(("first", "last", "best_reward"))
    settings = {**random_run(rng, "steps"), "primary_selector": primary}
    settings["selectors"] = ("first", "last", "best_reward")
    with replayed(tmp_path, rows, **settings, answer="none") as con:
        assert_agrees(con, rows, {**settings, "answer": "none"})


def test_a_voting_selector_is_refused_where_there_is_no_answer(tmp_path):
    rows = [attempt(seed, 10, None, correct=seed == 1) for seed in range(3)]
    with replayed(tmp_path, rows, answer="none") as con:
        assert con.sql("select name from used_selectors").fetchall() == [("first",)]
        with pytest.raises(AuditError, match="majority votes, and these tasks have no answer"):
            engine.replay(con, primary_selector="majority")
        engine.replay(con, selectors="all")
        assert con.sql("select name from used_selectors order by 1").fetchall() == [
            ("first",), ("last",),
        ]  # fmt: skip


def test_all_selectors_leave_out_those_of_scores_that_a_replay_lacks(tmp_path):
    rows = [attempt(seed, 10, "4", archive="a", score_prm=0.5) for seed in range(3)]
    rows += [attempt(seed, 10, "4", archive="b", mean_logprob=-0.5) for seed in range(3)]
    with replayed(tmp_path, rows) as con:
        for archive, scored in (
            ("a", ["best_prm", "exp_vote_prm"]),
            ("b", ["exp_vote_logprob", "max_logprob"]),
        ):
            engine.replay(con, selectors="all", archives=[archive])
            found = con.sql("select name from used_selectors order by name").fetchall()
            names = {name for (name,) in found if name.startswith(("best", "exp", "max"))}
            assert names == set(scored)


@pytest.mark.slow
def test_every_table_can_be_selected_from_and_speaks_the_unit(tmp_path):
    rows = ledger_archive(random.Random(1), archives=2)
    with replayed_in_a_file(
        tmp_path, rows, unit="money", policies="all", rules="all", budgets="0.01,0.02"
    ) as con:
        engine.replay(con, is_users=True)
        with pytest.raises(AuditError, match="replay with --unit completion"):
            engine.compute_table(con, "prefix_boxes")
        names = [name for name in engine.list_tables() if name != "prefix_boxes"]
        for name, table in tables_of(con, names).items():
            found = con.sql(f"from {name}").to_arrow_table()
            columns = table.column_names
            named = [column for column in found.column_names if column != "problem"]
            assert columns in (named, found.column_names), name
            assert not list(differences(table.to_pylist(), found.to_pylist(), columns))[:3], name
        assert con.sql("select distinct budget from main order by 1").fetchall() == [
            (0.01,),
            (0.02,),
        ]
    # Another program sees them in the file.
    with duckdb.connect(str(tmp_path / "small.duckdb"), read_only=True) as con:
        assert con.sql("select count(delta) > 0 from main").fetchall() == [(True,)]


def test_a_check_of_data_quality_names_a_budget_in_the_unit(tmp_path):
    rows = [attempt(seed, 10, "4", money=0.00001, correct=True) for seed in range(3)]
    settings = {"unit": "money", "budgets": "0.00001,$5", "caps": (2,), "primary_cap": 2}
    with replayed(tmp_path, rows, **settings) as con:
        names = {row["check"] for row in engine.compute_table(con, "data_quality").to_pylist()}
    assert {"never_binds_0.00001", "never_binds_5", "banks_below_cap_2"} <= names
