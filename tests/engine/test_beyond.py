"""The engine beyond the study against the slow reference, and its promises in words."""

import random

import pytest

from audit import engine
from audit.errors import AuditError
from tests import reference
from tests.support.able import able
from tests.support.agreement import assert_agrees
from tests.support.archives import attempt
from tests.support.awkward import awkward_archive, awkward_settings
from tests.support.databases import SMALL
from tests.support.databases import replayed_in_memory as replayed
from tests.support.slow import seeds

# Labels may be missing in the study's tables too.
NAMES = [name for name in reference.KEYS if name not in ("attempts", "orders", "prefixes")]
FULL = {**SMALL, "policies": "all", "curve_points": 12}


# What reads a label, an answer or a cost of its own: the other tables are made of the same.
SOME_NAMES = (
    *reference.BEYOND_RELATIONS,
    "grades",
    "replays",
    "selections",
    "main",
    "selectors",
    "by_competition",
    "matched_cost",
    "policies",
    "answer_agreement",
    "archive_comparisons",
)


# ------------------------------------------------------------------------ against the reference


@pytest.mark.parametrize("seed", seeds(2, 5))
def test_engine_agrees_with_the_reference_beyond_the_study(tmp_path, seed):
    rng = random.Random(seed)
    rows = awkward_archive(rng)
    settings = able(rows, awkward_settings(rng))
    with replayed(tmp_path, rows, **settings) as con:
        assert_agrees(con, rows, settings, NAMES)


# What votes by majority is compared above.
@pytest.mark.slow
@pytest.mark.parametrize("primary", [name for name in reference.SELECTORS if name != "majority"])
def test_every_primary_selector_has_its_own_votes_and_stops(tmp_path, primary):
    rows = awkward_archive(random.Random(7), archives=2, logprobs=True, archive_answers=True)
    settings = {**FULL, "primary_selector": primary}
    with replayed(tmp_path, rows, **settings) as con:
        assert_agrees(con, rows, settings, NAMES)


@pytest.mark.parametrize(
    ("orders", "replicates"),
    [(0, 2), (2, 0), *(pytest.param(n, n, marks=pytest.mark.slow) for n in (1, 2))],
)
def test_few_orders_and_few_replicates_leave_nulls_and_no_wrong_number(
    tmp_path, orders, replicates
):
    rows = awkward_archive(random.Random(5), archives=2, labelled=True)
    settings = {**FULL, "orders": orders, "replicates": replicates}
    with replayed(tmp_path, rows, **settings) as con:
        assert_agrees(con, rows, settings, NAMES)
        noise = engine.compute_table(con, "order_noise").to_pylist()
        curve = engine.compute_table(con, "budget_curve").to_pylist()
        if orders == 0:
            assert noise == curve == [] == engine.compute_table(con, "main").to_pylist()
            assert engine.compute_table(con, "cap_sensitivity").num_rows > 0
            for name in ("answer_changes", "cost_changes"):
                assert con.sql(f"from {name}").fetchall() == []
            for name in ("tallies", "policy_stops", "policy_replays", "policy_selections"):
                repeats = con.sql(f"select distinct repeat from {name}").fetchall()
                assert repeats == [(0,)], name
            return
        assert all((row["order_error"] is None) == (orders == 1) for row in noise)
        assert all((row["problem_error"] is None) == (replicates < 2) for row in noise)
        assert all((row["band_low"] is None) == (replicates < 2) for row in curve)
        assert all((row["delta_low"] is None) == (replicates < 1) for row in curve)


@pytest.mark.parametrize("seed", seeds(1, 2))
def test_archives_that_share_some_problems_are_compared_on_those(tmp_path, seed):
    rng = random.Random(100 + seed)
    rows = awkward_archive(rng, archives=4, competitions=2, missing=0.6, attempts=3)
    settings = {**FULL, "budgets": (10, 25)}
    with replayed(tmp_path, rows, **settings) as con:
        assert_agrees(con, rows, settings, NAMES)


def test_a_selector_that_can_never_pick_abstains_at_every_budget(tmp_path):
    # Without a single archive that has log-probabilities the selector would be refused.
    known = {"a": {"mean_logprob": None}, "b": {"mean_logprob": -1.0}}
    rows = [
        attempt(seed, 5 * seed, "4", correct=True, archive=archive, **more)
        for archive, more in known.items()
        for seed in (1, 2, 3)
    ]
    settings = {**FULL, "primary_selector": "max_logprob"}
    with replayed(tmp_path, rows, **settings) as con:
        assert_agrees(con, rows, settings, SOME_NAMES)
        found = con.sql(
            "select rule, budget, correct_change, abstained_change from answer_changes "
            "where archive = 'a' and selector = 'max_logprob' order by rule"
        ).fetchall()
        assert found == [("advisory", 0, 0, 3), ("strict", 0, 0, 3)]
        mine = [row for row in rows_of(con, "answer_agreement") if row["archive"] == "a"]
        assert {row["both_abstain"] for row in mine} == {100.0}
        assert {row["strict_vote_share"] for row in mine} == {None}


def rows_of(con, name):
    return engine.compute_table(con, name).to_pylist()


# --------------------------------------------------------------------------------------- policies


def relation(con, name):
    return con.sql(f"from {name} order by all").fetchall()


def test_an_unknown_policy_is_refused_by_name_and_keeps_the_old_replays(tmp_path):
    with replayed(tmp_path, awkward_archive(random.Random(2)), **FULL) as con:
        before = relation(con, "policy_stops")
        with pytest.raises(AuditError, match="lead_of_four"):
            engine.replay(con, **{**FULL, "policies": ("lead_of_four",)})
        assert relation(con, "policy_stops") == before


# ------------------------------------------------------------------ agreement, labels, determinism


def test_an_archive_without_labels_has_nulls_and_never_zeros(tmp_path):
    graded = [attempt(seed, 10, "4", correct=True, archive="graded") for seed in range(4)]
    bare = [attempt(seed, 10, "4", correct=None, archive="bare") for seed in range(4)]
    with replayed(tmp_path, graded + bare, **FULL) as con:
        assert_agrees(con, graded + bare, FULL, NAMES)
        for name in ("selectors", "by_competition", "cap_sensitivity", "order_noise"):
            assert {row["archive"] for row in rows_of(con, name)} == {"graded"}, name
        main = [row for row in rows_of(con, "main") if row["archive"] == "bare"]
        assert {row["delta"] for row in main} == {row["gap_change"] for row in main} == {None}
        assert all(row["advisory_cost"] > 0 for row in main)
        pairs = rows_of(con, "archive_comparisons")
        assert {row["accuracy"] for row in pairs} == {row["delta"] for row in pairs} == {None}
        assert None not in {row["other_accuracy"] for row in pairs}
        assert {row["cost_difference"] for row in pairs} == {0.0}
