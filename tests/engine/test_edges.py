"""Edges that random archives seldom reach: thresholds, tails, batches and filters."""

import random
from dataclasses import replace

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from audit import engine
from audit.engine import draws
from audit.engine.settings import Settings, check_settings, choose_budgets
from audit.errors import AuditError
from audit.output.filters import Filter, filter_rows
from tests import reference
from tests.support.archives import attempt
from tests.support.databases import SMALL
from tests.support.databases import replayed_in_memory as replayed
from tests.support.rows import differences

# Position, leader's votes, runner-up's votes and length of the last run, after each of which a
# policy has stopped or not (cap 12, a bank of 12).
STOPPED = {
    "early_stopping": [
        ((5, 5, 0, 5), True),
        ((5, 4, 1, 4), False),
        ((6, 5, 1, 5), False),  # Five alike, but no window of five ends here.
        ((9, 9, 0, 9), False),
        ((10, 9, 1, 9), True),
    ],
    "lead_of_three": [((3, 3, 0, 3), True), ((3, 2, 0, 2), False), ((9, 5, 2, 1), True)],
    "decided": [
        ((7, 7, 0, 7), True),  # Five are to come: seven cannot be reached.
        ((6, 6, 0, 6), False),  # Six are to come: a tie would go to the leader, but it is open.
        ((11, 6, 5, 1), False),
        ((11, 7, 4, 1), True),
        ((12, 6, 5, 1), True),
    ],
    # The probability that a fair coin shows at most so many heads: 31 of 32, and 57 of 64.
    "adaptive_consistency": [((4, 4, 0, 4), True), ((3, 3, 0, 3), False), ((5, 4, 1, 1), False)],
}


@pytest.mark.parametrize(
    ("policy", "prefix", "stops"),
    [(policy, *case) for policy, cases in STOPPED.items() for case in cases],
)
def test_a_policy_stops_exactly_where_it_says(policy, prefix, stops):
    with duckdb.connect() as con:
        con.execute("create table caps (cap integer, is_primary boolean)")
        con.execute("insert into caps values (12, true)")
        con.execute("create table banks (bank_id integer, bank_size integer)")
        con.execute("insert into banks values (1, 12)")
        con.execute(f"create table binomial_tails as {engine.render('binomial_tails')}")
        con.execute(
            "create table tallies (walk_id bigint, position integer, leader_votes integer, "
            "runner_up_votes integer, run_length integer, bank_size integer)"
        )
        con.execute("insert into tallies values (0, ?, ?, ?, ?, 12)", prefix)
        found = con.execute(f"select stop_position from ({engine.render(policy)})").fetchall()
    assert found == ([(prefix[0],)] if stops else [])


@pytest.mark.parametrize(
    ("problems", "in_row", "at_once"),
    # The last has two competitions in one row, more than are drawn at once.
    [([4], 2, 13), ([3, 2, 5], 2, 13), ([11], 2, 13), ([2, 2, 5], 4, 7)],
)
def test_several_calls_of_the_multinomial_draw_what_one_call_does(
    monkeypatch, problems, in_row, at_once
):
    def counts():
        found = {}
        for row in pa.concat_tables(draws.draw_counts(problems, 9, 5)).to_pylist():
            found[row["replicate"], row["first_problem"]] = row["counts"]
        joined = [
            [count for key in sorted(found) if key[0] == replicate for count in found[key]]
            for replicate in range(10)
        ]
        return np.array(joined)

    whole = counts()
    rng = np.random.default_rng(5)
    drawn = [rng.multinomial(size, np.full(size, 1 / size), size=9) for size in problems]
    assert (whole[0] == 1).all() and (whole[1:] == np.hstack(drawn)).all()
    monkeypatch.setattr(draws, "PROBLEMS_IN_ROW", in_row)
    monkeypatch.setattr(draws, "BATCH_COUNTS", at_once)
    assert (counts() == whole).all()
    # Fewer counts are in memory at a time where a competition is drawn by itself.
    rows = [len(table) for table in draws.draw_counts([11], 9, 5)]
    assert len(rows) > 2 and max(rows) < sum(rows) / 2


def test_the_equivalence_margin_is_that_of_two_one_sided_tests_at_five_percent(tmp_path):
    rng = random.Random(3)
    rows = [
        attempt(seed, rng.randint(3, 30), rng.choice("45"), correct=rng.random() < 0.5, question=q)
        for q in range(9)
        for seed in range(5)
    ]
    settings = {**SMALL, "replicates": 41, "curve_points": 0}
    expected = reference.compute(rows, **settings)["matched_cost"]
    wide = [max(abs(row["delta_low"]), abs(row["delta_high"])) for row in expected]
    assert any(row["equivalence_margin"] < end for row, end in zip(expected, wide, strict=True))
    with replayed(tmp_path, rows, **settings) as con:
        actual = engine.compute_table(con, "matched_cost").to_pylist()
    assert not list(differences(expected, actual, list(expected[0])))


def test_a_filter_by_archive_keeps_comparisons_of_two_that_are_asked_for():
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    table = pa.table({"archive": [one for one, _ in pairs], "other": [two for _, two in pairs]})
    kept = filter_rows("archive_comparisons", table, Filter(archives=("a", "c"))).to_pylist()
    assert kept == [{"archive": "a", "other": "c"}]


@pytest.mark.parametrize(
    ("name", "within", "beyond"),
    [
        ("budgets", (1, 10**15), (0,)),
        ("budgets", (10**15,), (10**15 + 1,)),
        ("effect", 100.0, 100.5),
        ("effect", 0.5, 0.0),
        ("caps", (1, 2**31 - 1), (2**31,)),
        ("caps", (1,), (0,)),
        ("orders", 10**6, 10**6 + 1),
        ("orders", 0, -1),
        ("replicates", 10**6, 10**6 + 1),
        ("replicates", 0, -1),
        ("curve_points", 10**6, 10**6 + 1),
        ("curve_points", 2, 1),
        ("curve_points", 0, -1),
        ("order_seed", 2**63 - 1, 2**63),
        ("bootstrap_seed", 0, -1),
    ],
)
def test_a_setting_means_something_up_to_its_edge(name, within, beyond):
    check_settings(replace(Settings(), **{name: within}))
    with pytest.raises(AuditError, match=f"--{name.replace('_', '-')}|seeds"):
        check_settings(replace(Settings(), **{name: beyond}))


@pytest.mark.parametrize(
    ("costs", "budgets"),
    [
        ([124], (120,)),
        ([125], (130,)),  # A half goes up.
        ([1249], (1200,)),
        ([1250], (1300,)),
        ([995], (1000,)),
        ([99], (99,)),
        ([0], (1,)),
        # Quantiles lie between neighbours: 2.3, 2.75, 4, 5.25 and 5.7.
        ([2, 3, 5, 6], (2, 3, 4, 5, 6)),
        (range(0, 1010, 10), (100, 250, 500, 750, 900)),
    ],
)
def test_usual_budgets_are_rounded_to_two_digits_half_up(costs, budgets):
    assert choose_budgets(costs) == budgets


def test_a_tie_of_the_majority_goes_to_the_answer_seen_first(tmp_path):
    # 2 leads after three votes; after four both have two, and 1 was seen first.
    rows = [attempt(seed, 10, answer) for seed, answer in enumerate("1221")]
    with replayed(tmp_path, rows, budgets=(30, 40)) as con:
        query = (
            "select budget, answer, seed from selections where repeat = 0 and cap = 4 "
            "and rule = 'strict' and selector = 'majority' order by budget"
        )
        assert con.execute(query).fetchall() == [(30, "2", 1), (40, "1", 0)]


def test_an_exit_is_asked_again_with_its_checkpoint_the_last_without_it_and_with_half():
    with duckdb.connect() as con:
        con.execute(
            "create table exit_checkpoints as select 1 + range // 4 as attempt_id from range(8)"
        )
        con.execute("create table exits as select 1 as attempt_id, 3 as step")
        cuts = f"select attempt_id, last_step from ({engine.render('exit_cuts')}) order by all"
        assert con.execute(cuts).fetchall() == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 3), (2, 4)]
