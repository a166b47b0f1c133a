"""Policies, rules of one's own, equal cost and enough orders: promises worked out by hand."""

import math
import re

import pytest

import audit
from audit import engine
from audit.errors import AuditError
from tests.support.archives import attempt
from tests.support.command import ROOT
from tests.support.databases import replayed_in_memory as replayed

BLOCKS = re.findall(r"```sql\n(.*?)```", (ROOT / "sql" / "README.md").read_text(), re.DOTALL)
README = {re.match(r"-- (\w+):", block).group(1): block for block in BLOCKS}
POLICY = """-- mine: a policy for the tests of what is refused.
-- grain: walk_id, cap
select walk_id, cap, {position} as stop_position
from tallies cross join caps
where {where}
"""


def folder_of(path, name, sql):
    path.mkdir(exist_ok=True)
    (path / f"{name}.sql").write_text(sql, encoding="utf-8")
    return path


# ------------------------------------------------------------------------------------ own files


def test_the_readmes_waves_check_the_budget_after_every_fourth_attempt(tmp_path):
    rules = folder_of(tmp_path / "rules", "waves", README["waves"])
    rows = [attempt(seed, 10, "4") for seed in range(6)]
    asked = {"budgets": (10, 40, 41), "caps": (3, 9), "primary_cap": 9, "orders": 0}
    with replayed(tmp_path, rows, **asked, rules=rules) as con:
        found = con.sql(
            "select cap, budget, launched, returned, cost from replays "
            "where rule = 'waves' order by cap, budget"
        ).fetchall()
    # A wave of four costs 40: a budget of 40 is spent after it, one of 41 begins the next, of two.
    # Under a cap of three the only wave has three.
    assert found == [
        (3, 10, 3, 3, 30),
        (3, 40, 3, 3, 30),
        (3, 41, 3, 3, 30),
        (9, 10, 4, 4, 40),
        (9, 40, 4, 4, 40),
        (9, 41, 6, 6, 60),
    ]


def test_the_readmes_policy_stops_after_three_alike_under_every_rule(tmp_path):
    policies = folder_of(tmp_path / "policies", "three_alike", README["three_alike"])
    rules = folder_of(tmp_path / "rules", "grace", README["grace"])
    answers = ("4", "5", "5", "5", "4")
    rows = [attempt(seed, 10, answer) for seed, answer in enumerate(answers)]
    asked = {"budgets": (100,), "caps": (3, 9), "primary_cap": 9, "orders": 0}
    with replayed(tmp_path, rows, **asked, policies=str(policies), rules=rules) as con:
        stops = con.sql("select policy, cap, stop_position from policy_stops").fetchall()
        ended = con.sql(
            "select policy, rule, returned, cost from policy_replays order by all"
        ).fetchall()
    assert sorted(stops) == [
        ("none", 3, None),
        ("none", 9, None),
        ("three_alike", 3, None),
        ("three_alike", 9, 4),
    ]
    assert ended == [
        (policy, rule, returned, 10 * returned)
        for policy, returned in (("none", 5), ("three_alike", 4))
        for rule in ("advisory", "grace", "strict")
    ]


@pytest.fixture(scope="module")
def three_alike(tmp_path_factory):
    """A database in which every refused replay leaves all as it was."""
    rows = [attempt(seed, 10, "4") for seed in (1, 2, 3)]
    with replayed(tmp_path_factory.mktemp("policies"), rows) as con:
        yield con


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        (POLICY.format(position=1, where="position <= 2"), "at most one row per walk_id and cap"),
        (POLICY.format(position="bank_size + 1", where="position = 1"), "between 1 and cap"),
        (POLICY.format(position="cap + 1", where="position = 1"), "between 1 and cap"),
        (POLICY.format(position=0, where="position = 1"), "between 1 and cap"),
        (POLICY.format(position=1, where="exists (from grades)"), "reads grades"),
        ("-- mine: gives too little.\nselect walk_id, cap from tallies, caps", "no column stop"),
    ],
)
def test_a_policy_that_breaks_its_contract_is_refused_by_name(tmp_path, three_alike, sql, why):
    policies, con = folder_of(tmp_path / "mine", "mine", sql), three_alike
    before = con.sql("from settings order by key").fetchall()
    with pytest.raises(AuditError, match=why) as refused:
        engine.replay(con, policies=str(policies))
    assert str(policies / "mine.sql") in str(refused.value)
    assert con.sql("from settings order by key").fetchall() == before
    assert engine.compute_table(con, "policies").num_rows == 0


def test_binomial_tails_are_the_exact_ones(tmp_path):
    rows = [attempt(seed, 10, "4") for seed in range(70)]
    with replayed(tmp_path, rows, caps=(64,), primary_cap=64, orders=0) as con:
        found = con.sql("select trials, successes, probability from binomial_tails").fetchall()
    assert {trials for trials, _, _ in found} == set(range(1, 66))
    for trials, successes, probability in found:
        exact = sum(math.comb(trials, k) for k in range(successes + 1)) / 2**trials
        assert probability == pytest.approx(exact, rel=1e-11)
        assert (probability >= 0.95) == (exact >= 0.95)


# ----------------------------------------------------------------------------------- equal cost


def test_costs_near_the_largest_that_load_are_matched_to_the_token(tmp_path):
    # Sums beyond 2^53 have no exact double.
    costs = (10**12 - 1, 10**12 - 7, 10**12 - 11)
    many = range(400)
    rows = [
        attempt(seed, cost, "4", correct=True, question=question)
        for question in many
        for seed, cost in enumerate(costs)
    ]
    rows += [attempt(seed, 3, "4", question=len(many)) for seed in range(3)]
    asked = {"budgets": (5, 10**12), "caps": (3,), "primary_cap": 3, "orders": 20}
    with replayed(tmp_path, rows, **asked, replicates=0) as con:
        ((whole,),) = con.sql("select sum(orders * whole_cost) from matching_walks").fetchall()
        assert whole > 2**53
        for row in engine.compute_table(con, "matched_cost").to_pylist():
            ((strict, next_strict),) = con.execute(
                "select sum(orders * least($budget, whole_cost)), "
                "sum(orders * least($budget + 1, whole_cost)) from matching_walks",
                {"budget": row["strict_budget"]},
            ).fetchall()
            ((paid,),) = con.execute(
                "select sum(cost) from rule_totals where rule = 'advisory' and budget = ?",
                [row["advisory_budget"]],
            ).fetchall()
            assert strict <= paid < next_strict
            assert not row["exhausted"]


# --------------------------------------------------------------------- orders, filters, portions


def test_a_name_is_itself_before_it_is_a_pattern_and_nothing_left_is_refused(tmp_path):
    rows = [attempt(1, 10, "4", archive=archive) for archive in ("a*", "ab", "a[b]")]
    with replayed(tmp_path, rows) as con:
        for asked, kept in (("a*", ["a*"]), ("a[b]", ["a[b]"]), ("?b", ["ab"])):
            audit.replay(con, archive=[asked], orders=0, replicates=0)
            assert [row[0] for row in con.sql("select archive from archives").fetchall()] == kept
        with pytest.raises(AuditError, match="leave no problem"):
            engine.replay(con, archives=["ab"], competitions=["D"])
        assert con.sql("select archive from archives").fetchall() == [("ab",)]
