"""The tables majority_rules and truncation: plain loops over every pool, and pools read by eye."""

import itertools
import math
import random
from fractions import Fraction

import numpy
import pytest

from audit import engine
from audit.output.terminal import WIDEST_CELL
from tests import reference
from tests.support.able import able
from tests.support.archives import attempt, random_archive, random_settings
from tests.support.databases import SMALL
from tests.support.databases import replayed_in_memory as replayed
from tests.support.ledger import ledger_archive
from tests.support.rows import differences
from tests.support.slow import seeds

NONE = "no answer"


def finished_answer(one):
    return one["answer"] if one["eligible"] else None


def finished_raw(one):
    return one["raw"] if one["eligible"] else None


def finished_answer_or_none(one):
    return one["answer"] if one["eligible"] else (NONE,)


def any_answer(one):
    return one["answer"]


def any_raw_or_none(one):
    return one["raw"] if one["answer"] is not None else (NONE,)


def any_answer_and_label(one):
    return None if one["answer"] is None else (one["answer"], one["correct"])


def finished_label(one):
    return one["correct"] if one["eligible"] else None


def any_label(one):
    return one["correct"]


# What an attempt votes for, None for no vote, and who wins a tie.
DEFINITIONS = {
    "majority": (finished_answer, "first"),
    "ties_last_seen": (finished_answer, "last"),
    "ties_averaged": (finished_answer, "averaged"),
    "ties_abstain": (finished_answer, "abstain"),
    "raw_string": (finished_raw, "first"),
    "no_answer_votes": (finished_answer_or_none, "first"),
    "unfinished_votes": (any_answer, "first"),
    "label_majority": (finished_label, "abstain"),
    "raw_string_all": (any_raw_or_none, "first"),
    "answer_and_label": (any_answer_and_label, "averaged"),
    "label_mode": (any_label, "first"),
    "label_half": (any_label, "abstain"),
}


def score(pool, vote_of, ties):
    """How correct the winner of a pool is: 0, 1, or a fraction where a tie is averaged."""
    votes = [vote_of(one) for one in pool]
    cast = [vote for vote in votes if vote is not None]
    if not cast:
        return Fraction(0)
    tied = [vote for vote in dict.fromkeys(cast) if cast.count(vote) == max(map(cast.count, cast))]
    standing_for = {vote: pool[votes.index(vote)] for vote in tied}
    correct = {vote: Fraction(standing_for[vote]["correct"] and vote != (NONE,)) for vote in tied}
    if ties == "first":
        return correct[tied[0]]
    if ties == "last":
        return next(correct[vote] for vote in reversed(votes) if vote in tied)
    if ties == "averaged":
        return sum(correct.values()) / len(tied)
    return correct[tied[0]] if len(tied) == 1 else Fraction(0)


def orders_of(rows, orders):
    """Every archive's banks in every random order."""
    raw = {
        tuple(row[c] for c in reference.KEYS["attempts"].split()): reference.slow_box(row["text"])
        if row.get("text") is not None
        else row.get("boxed_answer")
        for row in rows
    }
    banks = {}
    for one in reference.read_attempts(rows):
        one["raw"] = raw[*one["bank"], one["seed"]]
        banks.setdefault(one["bank"], []).append(one)
    competitions = sorted({bank[1] for bank in banks})
    for (archive, competition, question), members in banks.items():
        for repeat in range(1, orders + 1):
            seeds = [20260904, competitions.index(competition), question, repeat]
            rng = numpy.random.default_rng(numpy.random.SeedSequence(seeds))
            yield archive, [members[slot] for slot in rng.permutation(len(members))]


def slow_tables(rows, *, budgets, primary_cap, orders, primary_selector="majority", **_):
    """Both tables, one replay at a time."""
    walked = list(orders_of(rows, orders))
    majority_rules, truncation = [], []
    for archive in sorted({archive for archive, _ in walked}):
        for budget in sorted(budgets):
            runs = {
                rule: [
                    reference.walk(order, primary_cap, budget, rule)
                    for name, order in walked
                    if name == archive
                ]
                for rule in reference.RULES
            }
            replays = len(runs["strict"])
            for definition, (vote_of, ties) in sorted(DEFINITIONS.items()):
                strict, advisory = (
                    sum(score(run.pool, vote_of, ties) for run in runs[rule])
                    for rule in ("strict", "advisory")
                )
                majority_rules.append(
                    {
                        "archive": archive,
                        "budget": budget,
                        "definition": definition,
                        "strict_accuracy": float(100 * strict / replays),
                        "advisory_accuracy": float(100 * advisory / replays),
                        "delta": float(100 * (advisory - strict) / replays),
                    }
                )
            for rule in reference.RULES:
                truncation.append(
                    {"archive": archive, "budget": budget, "rule": rule}
                    | truncated(runs[rule], budget, primary_selector)
                )
    return majority_rules, truncation


def truncated(runs, budget, selector):
    crossed = launched = limited = right = possibly_right = 0
    for run in runs:
        crossed += sum(one["completion_tokens"] for one in run.launched) > budget
        launched += len(run.launched)
        at_limit = sum(one["finish_reason"] == "length" for one in run.launched)
        limited += at_limit
        chosen = reference.select(run.pool, selector)
        is_right = chosen is not None and chosen["correct"]
        right += is_right
        possibly_right += bool(is_right or at_limit or run.prefix)
    return {
        "replays_cut": 100 * crossed / len(runs),
        "attempts_cut": 100 * limited / launched,
        "accuracy_cut_wrong": 100 * right / len(runs),
        "accuracy_cut_correct": 100 * possibly_right / len(runs),
    }


@pytest.mark.parametrize("seed", seeds(2, 3))
def test_both_tables_agree_with_a_loop_over_every_pool(tmp_path, seed):
    rng = random.Random(1000 + seed)
    rows = random_archive(rng)
    settings = able(rows, random_settings(rng))
    expected = slow_tables(rows, **settings)
    with replayed(tmp_path, rows, **settings) as con:
        for name, want in zip(("majority_rules", "truncation"), expected, strict=True):
            found = engine.compute_table(con, name)
            columns = [column for column in found.column_names if column != "meaning"]
            if want:
                assert columns == list(want[0])
            assert not list(differences(want, found.to_pylist(), columns))[:3], name


@pytest.mark.parametrize("seed", seeds(1, 2))
def test_the_projects_own_definition_is_the_main_table_exactly(tmp_path, seed):
    rows = random_archive(random.Random(2000 + seed))
    with replayed(tmp_path, rows, orders=7) as con:
        own = [row for row in rules_of(con) if row["definition"] == "majority"]
        columns = ["archive", "budget", "strict_accuracy", "advisory_accuracy", "delta"]
        main = engine.compute_table(con, "main").select(columns).to_pylist()
        assert [{column: row[column] for column in columns} for row in own] == main


def test_the_projects_own_definition_does_not_follow_the_primary_selector(tmp_path):
    rows = random_archive(random.Random(7), archive_answers=True)
    found = []
    for primary in ("majority", "archive_majority"):
        with replayed(tmp_path, rows, name=primary, primary_selector=primary) as con:
            found.append(rules_of(con))
    assert found[0] == found[1]


def rules_of(con):
    return engine.compute_table(con, "majority_rules").to_pylist()


def accuracies(con, archive="a"):
    """Accuracy by definition where both rules and all budgets give the same."""
    rows = [row for row in rules_of(con) if row["archive"] == archive]
    assert all(row["strict_accuracy"] == row["advisory_accuracy"] for row in rows)
    return {row["definition"]: row["strict_accuracy"] for row in rows}


def problem(question, *attempts, archive="a"):
    """One problem's attempts, each (box, correct) or (box, correct, finish reason)."""
    return [
        attempt(seed, 10, box, correct=correct, finish=finish[0] if finish else "stop")
        | {"question_id": question, "archive": archive}
        for seed, (box, correct, *finish) in enumerate(attempts)
    ]


ALL_RETURNED = {"budgets": (1000,), "caps": (9,), "primary_cap": 9}


def test_a_tie_between_right_and_wrong_is_won_lost_halved_or_left(tmp_path):
    rows = problem(0, ("7", True), ("9", False))
    with replayed(tmp_path, rows, **ALL_RETURNED, orders=40) as con:
        found = accuracies(con)
    assert 0 < found["majority"] < 100
    assert found["majority"] + found["ties_last_seen"] == 100
    assert found["ties_averaged"] == found["answer_and_label"] == 50
    assert found["ties_abstain"] == found["label_majority"] == found["label_half"] == 0
    assert found["label_mode"] == found["majority"]


def test_attempts_cut_at_the_limit_vote_and_raw_strings_split_where_a_definition_says_so(tmp_path):
    cut = problem(0, ("9", False), ("7", True, "length"), ("7", True, "length"), archive="cut")
    spellings = [("7", True), ("07", True), ("+7", True), ("9", False), ("9", False)]
    rows = cut + problem(0, *spellings, archive="spelled")
    with replayed(tmp_path, rows, **ALL_RETURNED) as con:
        found, split = accuracies(con, "cut"), accuracies(con, "spelled")
        meanings = {row["definition"]: row["meaning"] for row in rules_of(con)}
    takes_unfinished = {"unfinished_votes", "raw_string_all", "answer_and_label"}
    takes_unfinished |= {"label_mode", "label_half"}
    assert {name for name, accuracy in found.items() if accuracy == 100} == takes_unfinished
    assert set(found.values()) == {0, 100}
    assert {name for name, accuracy in split.items() if accuracy == 0} == {
        "raw_string",
        "raw_string_all",
    }
    # Every definition has its own words.
    assert set(meanings) == set(DEFINITIONS)
    assert len(set(meanings.values())) == len(DEFINITIONS)
    assert max(map(len, meanings.values())) <= WIDEST_CELL


def by_score(pool, name, definition):
    """Whether what a pool elects by a score is correct; sums are whole billionths."""
    voters = [one for one in pool if one["eligible"] and name in one["scores"]]
    if not voters:
        return False
    values = [one["scores"][name] for one in voters]
    if definition == "deepconf_top10":
        top = numpy.quantile(values, 0.9)
        weighed = [(one, one["scores"][name]) for one in voters if one["scores"][name] >= top]
    else:
        # sorted() is stable, so that equal scores rank as they came.
        ranked = sorted(voters, key=lambda one: -one["scores"][name])
        points = {id(one): len(voters) - rank for rank, one in enumerate(ranked)}
        weighed = [(one, points[id(one)] ** 0.5) for one in voters]
    totals = {}
    for one, weight in weighed:
        totals[one["answer"]] = totals.get(one["answer"], 0) + math.floor(1e9 * weight + 0.5)
    winner = max(totals, key=totals.get)
    return next(one["correct"] for one, _ in weighed if one["answer"] == winner)


@pytest.mark.parametrize("seed", seeds(1, 2))
def test_votes_by_a_score_are_those_of_a_plain_loop(tmp_path, seed):
    rng = random.Random(seed)
    rows = ledger_archive(rng, archives=2, attempts=9)
    # Any attempt may be right, so that every choice of another one shows.
    rows = [row | {"correct": rng.random() < 0.5} for row in rows]
    # The largest budget buys pools in which several answers have a score.
    settings = {**SMALL, "budgets": (10, 45, 200), "primary_cap": 9}
    settings["selectors"] = "majority,best_reward,exp_vote_judge"
    with replayed(tmp_path, rows, **settings) as con:
        found = {
            (row["archive"], row["budget"], row["definition"]): row
            for row in engine.compute_table(con, "majority_rules").to_pylist()
        }
    walked = list(orders_of(rows, settings["orders"]))
    compared = 0
    for archive, budget, name, definition in itertools.product(
        sorted({row["archive"] for row in rows}), settings["budgets"], ("reward", "judge"),
        ("deepconf_top10", "borda_half"),
    ):  # fmt: skip
        orders = [order for own, order in walked if own == archive]
        if not any(one["eligible"] and name in one["scores"] for o in orders for one in o):
            continue
        row = found[archive, budget, f"{definition}_{name}"]
        for rule in reference.RULES:
            runs = [reference.walk(o, settings["primary_cap"], budget, rule) for o in orders]
            right = sum(by_score(run.pool, name, definition) for run in runs)
            assert row[f"{rule}_accuracy"] == pytest.approx(100 * right / len(runs))
            compared += 1
    assert compared > 8
