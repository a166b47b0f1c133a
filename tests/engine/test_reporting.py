"""What to report: at_k, frontier and power against slow loops and other people's code."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from audit import engine
from audit.engine.build import replicates_sql
from audit.engine.sql_files import weighing
from tests.support.archives import attempt, random_archive
from tests.support.databases import replayed_in_memory as replayed
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


def draws_of(con):
    """How often each replicate draws each problem."""
    found = con.sql("select replicate, problem_id, draws from problem_draws").fetchall()
    return {(replicate, problem): count for replicate, problem, count in found}


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
        table = {row["k"]: row for row in engine.table(con, "at_k").to_pylist()}
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


def test_chances_are_over_the_whole_bank_however_small_the_cap(tmp_path):
    bank = [attempt(n, 10, "4", correct=n < 3) for n in range(9)]
    asked = {"caps": (2,), "primary_cap": 2, "orders": 1, "replicates": 3}
    with replayed(tmp_path, bank, **asked) as con:
        first, second = engine.table(con, "at_k").to_pylist()
    assert first["pass_at_k"] == pytest.approx(100 * 3 / 9)
    assert second["pass_at_k"] == pytest.approx(100 * (1 - 6 * 5 / (9 * 8)))
    assert second["pass_hat_k"] == pytest.approx(100 * 3 * 2 / (9 * 8))


# ----------------------------------------------------------------------------------- frontier


def dominated(point, points):
    """Whether another point costs no more and is at least as right, one of them strictly."""
    return any(other[0] <= point[0] and other[1] >= point[1] and other != point for other in points)


@pytest.mark.parametrize("seed", seeds(1, 2))
@pytest.mark.parametrize("policies", [None, "all"])
def test_frontier_is_what_a_loop_over_all_pairs_finds(tmp_path, seed, policies):
    with replayed(tmp_path, rows(seed), **SETTINGS, policies=policies) as con:
        table = engine.table(con, "frontier").to_pylist()
        totals = con.sql(
            "select archive, policy, rule, budget, problem_id, cost, correct from frontier_totals"
        ).fetchall()
        drawn = draws_of(con)
    keys = sorted({row[:4] for row in totals})
    assert [
        tuple(row[name] for name in ("archive", "policy", "rule", "budget")) for row in table
    ] == keys
    best = {key: [] for key in keys}
    for replicate in range(20):
        points = {key: [0, 0] for key in keys}
        weight = 0
        for *key, problem, cost, correct in totals:
            count = drawn[replicate, problem]
            weight += count
            points[tuple(key)][0] += count * cost
            points[tuple(key)][1] += count * correct
        if weight:
            for key in keys:
                best[key].append(not dominated(points[key], list(points.values())))
    for row, key in zip(table, keys, strict=True):
        assert row["on_frontier"] == best[key][0], key
        assert row["frontier_share"] == pytest.approx(100 * np.mean(best[key][1:])), key


# -------------------------------------------------------------------------------------- power


@pytest.mark.parametrize("effect", [3, 0.5])
def test_power_is_that_of_the_normal_distribution(tmp_path, effect):
    with replayed(tmp_path, rows(2), **SETTINGS, effect=effect) as con:
        table = engine.table(con, "power").to_pylist()
        noise = {
            (r["archive"], r["budget"]): r for r in engine.table(con, "order_noise").to_pylist()
        }
        pairs = {
            tuple(r[name] for name in ("archive", "other", "rule", "budget")): r
            for r in engine.table(con, "archive_comparisons").to_pylist()
        }
        gains = con.sql(
            "select archive, other, rule, budget, "
            "list((more_correct, replays) order by replicate) "
            f"from ({replicates_sql(weighing('interval_comparisons'))}) "
            "where replicate > 0 and more_correct is not null "
            "group by all"
        ).fetchall()
    factor = scipy.stats.norm.ppf(0.975) + scipy.stats.norm.ppf(0.8)
    assert sum(row["other"] is None for row in table) == len(noise)
    spread = {}
    for *key, values in gains:
        parts = [Fraction(int(100 * a), int(b)) for a, b in values]
        spread[tuple(key)] = (
            float(np.std([float(part) for part in parts], ddof=1)) if len(set(parts)) > 1 else 0
        )
    assert any(spread.values())
    for row in table:
        if row["other"] is None:
            assert row["error"] == noise[row["archive"], row["budget"]]["problem_error"]
            assert row["delta"] == noise[row["archive"], row["budget"]]["delta"]
        else:
            key = tuple(row[name] for name in ("archive", "other", "rule", "budget"))
            assert row["delta"] == pairs[key]["delta"] is not None
            assert row["problems"] == pairs[key]["problems"]
            assert row["error"] == pytest.approx(spread[key], rel=1e-9, abs=1e-12)
        assert row["detectable"] == pytest.approx(factor * row["error"], rel=1e-12)
        if row["error"] == 0:
            assert row["problems_needed"] is None
        else:
            needed = row["problems"] * (row["detectable"] / effect) ** 2
            assert row["problems_needed"] == math.ceil(needed * (1 - 1e-12))
    assert {row["rule"] for row in table} == {None, "strict", "advisory"}


def test_below_two_replicates_and_without_orders_nothing_is_claimed(tmp_path):
    for n, asked in enumerate(({"replicates": 1}, {"orders": 0})):
        (tmp_path / str(n)).mkdir()
        with replayed(tmp_path / str(n), rows(2), **(SETTINGS | asked)) as con:
            power = engine.table(con, "power").to_pylist()
            empty = [
                engine.table(con, name).num_rows == 0 for name in ("at_k", "frontier", "power")
            ]
        if n == 0:
            assert power and not any(empty)
            cells = [
                row[name] for row in power for name in ("error", "detectable", "problems_needed")
            ]
            assert set(cells) == {None}
        else:
            assert all(empty)
