"""What to report: at_k, frontier and power against slow loops and other people's code."""

import random

import numpy as np
import pytest
import scipy.stats

from audit import engine
from tests.reference.reporting import FACTOR
from tests.support.agreement import assert_agrees
from tests.support.archives import attempt, random_archive
from tests.support.databases import SMALL
from tests.support.databases import replayed_in_memory as replayed
from tests.support.rows import differences
from tests.support.slow import seeds

eval_ = pytest.importorskip("scorio.eval")
SETTINGS = {"replicates": 19, "caps": (2, 5), "primary_cap": 5, "orders": 6}


def rows(seed):
    """Three archives over two competitions, full of ties; the last one has no labels."""
    found = random_archive(
        random.Random(seed), archives=3, competitions=2, problems=4, costs=(4, 6, 7, 9), empty=0.1
    )
    last = max(row["archive"] for row in found)
    return [row | {"correct": None} if row["archive"] == last else row for row in found]


# --------------------------------------------------------------------------------------- at k


@pytest.mark.parametrize("seed", seeds(1, 2))
def test_at_k_is_what_scorio_and_counting_say(tmp_path, seed):
    rng = random.Random(seed)
    bank = [
        attempt(
            n,
            rng.choice((3, 5)),
            rng.choice("45"),
            question=q,
            finish=rng.choice(("stop", "length")),
        )
        for q in range(5)
        for n in range(5)
    ]
    bank = [row | {"correct": r"{4}" in row["text"] and rng.random() < 0.9} for row in bank]
    with replayed(tmp_path, bank, **SETTINGS) as con:
        table = {row["k"]: row for row in engine.compute_table(con, "at_k").to_pylist()}
        right = con.sql(
            "select list((eligible and correct)::integer order by seed) from attempts "
            "inner join grades using (archive, competition, question_id, seed) "
            "group by question_id order by question_id"
        ).fetchall()
    outcomes = np.array([row for (row,) in right])
    assert sorted(table) == [1, 2, 4, 5]
    for k, row in table.items():
        assert row["pass_at_k"] == pytest.approx(100 * eval_.pass_at_k(outcomes, k), rel=1e-12)
        assert row["pass_hat_k"] == pytest.approx(100 * eval_.pass_hat_k(outcomes, k), rel=1e-12)
        assert row["pass_at_k_low"] <= row["pass_at_k"] + 1e-9
        costs = [
            np.mean([r["completion_tokens"] for r in bank if r["question_id"] == q])
            for q in range(5)
        ]
        assert row["cost"] == pytest.approx(k * np.mean(costs))
    for name in ("pass_at_k", "pass_hat_k"):
        assert table[1][name] == pytest.approx(100 * outcomes.mean(), rel=1e-12)


# -------------------------------------------------------------------------------------- power


def test_power_is_that_of_the_normal_distribution_for_any_effect(tmp_path):
    quantile = scipy.stats.norm.ppf
    assert float(FACTOR) == pytest.approx(quantile(0.975) + quantile(0.8), rel=1e-14)
    settings = {**SMALL, **SETTINGS, "effect": 0.5}
    with replayed(tmp_path, rows(2), **settings) as con:
        assert_agrees(con, rows(2), settings, ["power"])
        assert {row["rule"] for row in engine.compute_table(con, "power").to_pylist()} == {
            None, "strict", "advisory",
        }  # fmt: skip


# ----------------------------------------------------------------------------------- budget card

MEANS = """
select
    archive,
    budget,
    rule,
    policy,
    100 * avg(correct::integer) as accuracy,
    100 * avg(covered::integer) as coverage,
    avg(cost) as cost,
    quantile_cont(cost, 0.95) as cost_p95,
    avg(launched) as launched,
    avg(returned) as returned,
    avg(eligible) as eligible,
    100 * avg(abstained::integer) as abstention,
from policy_replays
inner join policy_selections
    using (archive, competition, question_id, repeat, cap, policy, budget, rule)
where repeat > 0 and selector = 'majority'
group by all
order by archive, budget, rule, policy
"""


def test_the_budget_card_has_means_over_the_random_orders(tmp_path):
    with replayed(tmp_path, rows(2), **SETTINGS, policies="all", rules="all") as con:
        means = con.sql(MEANS).to_arrow_table()
        card = engine.compute_table(con, "budget_card").to_pylist()
    assert not list(differences(means.to_pylist(), card, means.column_names))[:3]
