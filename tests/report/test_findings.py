"""The findings say what their rows say, on rows made by hand."""

import re

import pyarrow as pa
import pytest

from audit.report import data, findings
from audit.report.story import read_story, story_lines
from audit.units import UNITS


def main_row(archive="a", budget=4000, delta=10.0, low=5.0, high=15.0, **more):
    return {
        "archive": archive,
        "budget": budget,
        "strict_accuracy": 40.0,
        "advisory_accuracy": 40.0 + delta,
        "delta": delta,
        "delta_low": low,
        "delta_high": high,
        "strict_coverage": 45.0,
        "advisory_coverage": 45.0 + delta,
        "delta_coverage": delta,
        "gap_change": 0.0,
        "strict_cost": 4000.0,
        "advisory_cost": 7500.0,
        "strict_cost_ratio": 1.0,
        "advisory_cost_ratio": 1.875,
    } | more


def transition_row(abstain, wrong, harmed, selector="majority"):
    return {
        "archive": "a",
        "budget": 4000,
        "selector": selector,
        "abstain_to_correct": abstain,
        "wrong_to_correct": wrong,
        "correct_to_wrong": harmed,
    }


def cost_row(advisory=4000, strict=8000, delta=3.0, low=1.0, high=5.0, ratio=0.94, **more):
    return {
        "archive": "a",
        "advisory_budget": advisory,
        "strict_budget": strict,
        "advisory_cost": 7485.0,
        "strict_cost": 7940.0,
        "cost_difference": -455.0,
        "cost_difference_low": -1200.0,
        "cost_difference_high": 380.0,
        "cost_ratio": ratio,
        "cost_ratio_low": ratio - 0.05,
        "cost_ratio_high": ratio + 0.05,
        "advisory_accuracy": 50.125,
        "strict_accuracy": 47.0,
        "delta": delta,
        "delta_low": low,
        "delta_high": high,
    } | more


def line_row(**more):
    return {
        "archive": "a",
        "advisory_budget": 4000,
        "left_budget": 4000,
        "right_budget": 8000,
        "delta": -4.28,
        "delta_low": -6.0,
        "delta_high": 1.0,
    } | more


def repair_row(**more):
    counts = {"adjusted_labels": 17, "conflict_groups": 2, "resolved_groups": 2}
    return {"archive": "a"} | counts | more


def given(tables, references=()):
    """Rows made by hand as tables; some that are not given are there without rows."""
    empty = {
        "main": main_row(),
        "transitions": transition_row(1.0, 1.0, 1.0),
        "selectors": selector_row(1.0, 0.0, 2.0),
        "interpolation": line_row(),
        "grade_repairs": repair_row(),
    }
    return {
        **{name: pa.Table.from_pylist([row]).slice(1) for name, row in empty.items()},
        **{name: pa.Table.from_pylist(rows) for name, rows in tables.items()},
        "settings": pa.table({"key": ["primary_selector"], "value": ["majority"]}),
        "referenced_archives": pa.table({"archive": pa.array(references, pa.string())}),
    }


def told(name, *, unit=UNITS["completion"], references=(), **tables):
    """What one topic says of rows made by hand."""
    with data.connect_tables(given(tables, references)) as con:
        return findings.find_topic(con, name, unit)


def only(topic):
    (finding,) = topic.findings
    return finding


def test_dominant_effect_names_abstentions_when_they_are_the_largest_part():
    topic = told("dominant_effect", main=[main_row()], transitions=[transition_row(9.0, 2.0, 1.0)])
    assert "abstain→correct is the largest effect in the one archive" in topic.summary
    assert "abstentions that became correct answers (9.00 of 12.00" in only(topic).sentence
    assert "+10.00 points [5.00, 15.00]" in only(topic).sentence
    assert only(topic).table == "transitions"
    assert only(topic).keys == ["budget = 4000, selector = majority"]


def test_dominant_effect_reads_the_primary_selector_and_the_smallest_budget_only():
    rows = [main_row(budget=8000, delta=1.0), main_row(budget=4000)]
    other = transition_row(0.0, 0.0, 9.0, selector="max_logprob")
    topic = told("dominant_effect", main=rows, transitions=[other, transition_row(9.0, 0.0, 0.0)])
    assert "smallest budget, 4k" in topic.question
    assert "abstain→correct adds 9.00" in only(topic).sentence


def test_convergence_needs_every_larger_budget_below_the_threshold():
    rows = [
        main_row(budget=4000, delta=1.0),
        main_row(budget=8000, delta=2.0),
        main_row(budget=16000, delta=1.4, low=0.5, high=2.0),
        main_row(budget=32000, delta=-0.4, low=-0.8, high=-0.1),
    ]
    topic = told("convergence", main=rows)
    assert only(topic).sentence.startswith("From B = 16k and every larger budget")
    assert only(topic).keys == ["budget = 16000", "budget = 32000"]
    assert "same" not in only(topic).sentence


def test_convergence_says_where_the_attempts_ran_out_before_the_budget():
    spent = main_row(budget=16000, delta=0.5, low=0.1, high=0.9)
    unspent = main_row(budget=32000, delta=0.0, low=0.0, high=0.0, strict_cost_ratio=0.55)
    said = only(told("convergence", main=[spent, unspent])).sentence
    assert "Strict pays less than B from 32k on" in said and "must agree" in said
    assert "ran out" not in only(told("convergence", main=[spent])).sentence


@pytest.mark.parametrize(
    ("low", "high", "words_used"),
    [
        (-0.5, 0.5, "does not exclude no change"),
        (0.0, 0.5, "does not exclude no change"),
        (0.1, 0.5, "excludes zero"),
        (-0.5, -0.1, "excludes zero"),
        (None, None, "there is no interval"),
    ],
)
def test_an_interval_with_zero_is_never_called_equal(low, high, words_used):
    row = main_row(delta=0.3, low=low, high=high)
    everything = " ".join(
        finding.sentence
        for topic in (
            told("convergence", main=[row]),
            told("dominant_effect", main=[row], transitions=[transition_row(0.5, 0.0, 0.2)]),
        )
        for finding in topic.findings
    )
    assert words_used in everything
    assert not re.search(r"\b(equal|equivalent|identical)\b", everything)


def selector_row(delta, low, high, selector="max_logprob", budget=4000):
    return {
        "archive": "a",
        "budget": budget,
        "selector": selector,
        "delta": delta,
        "delta_low": low,
        "delta_high": high,
    }


def test_coverage_and_accuracy_part_where_a_selector_loses_while_coverage_rises():
    main = [main_row(delta_coverage=0.88)]
    chosen = [selector_row(-0.71, -1.29, -0.17), selector_row(0.5, 0.1, 0.9, "majority")]
    topic = told("coverage_and_accuracy", main=main, selectors=chosen)
    first, second = topic.findings
    assert "max_logprob loses accuracy (−0.71 points [−1.29, −0.17])" in first.sentence
    assert "coverage rises by 0.88; the interval excludes zero." in first.sentence
    assert (first.table, first.keys) == ("selectors", ["budget = 4000, selector = max_logprob"])
    assert second.table == "main"
    assert "the interval excludes zero in the one archive" in topic.summary


def test_the_clearest_loss_stands_for_the_others():
    losses = [
        selector_row(-2.0, -4.0, 0.5, "archive_majority"),
        selector_row(-0.5, -0.9, -0.1),
        selector_row(-0.1, -0.9, 0.7, "majority"),
    ]
    first = told("coverage_and_accuracy", main=[main_row()], selectors=losses).findings[0]
    assert "max_logprob loses accuracy (−0.50" in first.sentence
    assert first.sentence.endswith("So do 2 other pairs of budget and selector.")


def test_the_gap_is_reported_at_the_budget_where_it_widens_most():
    rows = [main_row(gap_change=0.5), main_row(budget=8000, gap_change=4.5)]
    topic = told("coverage_and_accuracy", main=rows)
    assert "most at B = 8k" in only(topic).sentence
    assert "widens by 4.50 points" in only(topic).sentence
    flat = told("coverage_and_accuracy", main=[main_row(gap_change=-0.5)])
    assert only(flat).sentence.startswith("At no budget does coverage rise more")


def test_realized_cost_reports_an_advisory_budget_that_beats_a_larger_strict_one():
    topic = told("realized_cost", cost_comparisons=[cost_row()])
    sentence = only(topic).sentence
    assert "reaches 50.13 % for 7,485 tokens" in sentence
    assert "larger B = 8k reaches 47.00 % for 7,940" in sentence
    assert "−455 tokens [−1,200, 380]: that cost interval contains zero" in sentence
    assert only(topic).keys == ["advisory_budget = 4000, strict_budget = 8000"]


@pytest.mark.parametrize(
    "row",
    [
        cost_row(delta=-1.0, low=-2.0, high=-0.5),
        cost_row(ratio=1.06),
        cost_row(advisory=8000, strict=8000),
        cost_row(advisory=8000, strict=4000),
    ],
    ids=["less accurate", "dearer", "same budget", "smaller strict budget"],
)
def test_realized_cost_claims_nothing_else(row):
    topic = told("realized_cost", cost_comparisons=[row])
    assert topic.summary.startswith("No smaller advisory budget beats a larger strict one")
    assert only(topic).keys == []


def test_a_cheaper_budget_with_a_small_difference_is_not_called_equivalent():
    row = cost_row(strict=32000, delta=-0.42, low=-1.17, high=0.25, ratio=0.59)
    _, near = told("realized_cost", cost_comparisons=[row]).findings
    assert "spends 0.59 [0.54, 0.64] times the cost" in near.sentence
    assert "does not exclude no difference, and does not show that the two are equivalent" in (
        near.sentence
    )


def test_interpolation_says_which_side_and_that_the_line_is_assumed():
    rows = {"cost_comparisons": [cost_row()], "interpolation": [line_row()]}
    last = told("realized_cost", **rows).findings[-1]
    assert "4.28 points below the straight line between strict 4k and 8k" in last.sentence
    assert "does not exclude no difference" in last.sentence
    assert "bends" in last.sentence
    assert last.table == "interpolation"


def test_unfinished_prefixes_quotes_the_first_and_last_budget():
    rows = [
        {"archive": "a", "budget": 4000, "prefix_cost": 1585.4, "prefix_share": 39.83},
        {"archive": "a", "budget": 32000, "prefix_cost": 3436.0, "prefix_share": 13.29},
    ]
    topic = told("unfinished_prefixes", prefix_cost=rows)
    assert topic.summary == "39.83 % of its cost at 4k."
    assert "(1,585 tokens per replay); at 32k it is 13.29 %" in only(topic).sentence
    assert told("unfinished_prefixes") is None


@pytest.mark.parametrize(
    ("capped", "said"),
    [(768, "768 of 2,400 replays (32.00 %) begin"), (0, "No replay begins with an attempt")],
)
def test_truncation_reports_the_floor_at_the_largest_budget(capped, said):
    rows = [
        {"archive": "a", "budget": b, "replays": 2400, "capped_first": c, "advisory_abstention": 32}
        for b, c in ((4000, 900), (32000, capped))
    ]
    assert said in only(told("truncation", truncation_floor=rows)).sentence


def test_grading_needs_references_to_say_anything():
    grades = [{"archive": "a", "budget": 4000, "change": 0.0833}]
    with_references = told(
        "grading", grading=grades, grade_repairs=[repair_row()], references=["a"]
    )
    assert with_references.summary.endswith("at most 0.083 points.")
    assert "adjusts 17 labels; 2 answers carry both labels, 2 of them settled" in (
        only(with_references).sentence
    )
    nothing = [repair_row(adjusted_labels=0, conflict_groups=1, resolved_groups=0)]
    without = told("grading", grading=[grades[0] | {"change": 0.0}], grade_repairs=nothing)
    assert "cannot be told" in without.summary
    assert "no label can be repaired; 1 answer carries both labels" in only(without).sentence


def matched_row(delta=2.0, low=1.0, high=3.0, budget=4000, **more):
    return {
        "archive": "a",
        "advisory_budget": budget,
        "advisory_cost": 7485.0,
        "strict_budget": 8123,
        "strict_cost": 7484.9,
        "advisory_accuracy": 50.0,
        "strict_accuracy": 50.0 - delta,
        "delta": delta,
        "delta_low": low,
        "delta_high": high,
        "equivalence_margin": 3.5,
        "exhausted": False,
    } | more


def test_the_same_cost_is_told_where_the_rules_differ_most():
    rows = [matched_row(), matched_row(-5.0, -8.0, -2.0, budget=8000)]
    topic = told("matched_cost", matched_cost=rows)
    assert "strict is better in the one archive" in topic.summary
    assert "strict costs as much at B = 8,123 tokens and reaches 55.00 %" in only(topic).sentence
    assert "−5.00 points [−8.00, −2.00] at the same cost" in only(topic).sentence
    assert only(topic).keys == ["advisory_budget = 8000"]


def test_findings_speak_the_unit():
    """A replay in money: no sentence counts tokens; amounts are as people write them."""
    money = UNITS["money"]
    matched = matched_row(budget=0.25, advisory_cost=0.0374, strict_budget=0.041236)
    compared = cost_row(advisory=0.25, strict=0.5) | {
        "advisory_cost": 0.3,
        "strict_cost": 0.5,
        "cost_difference": -0.2,
        "cost_difference_low": -0.25,
        "cost_difference_high": -0.1512345,
    }
    topics = [
        told("matched_cost", matched_cost=[matched], unit=money),
        told("realized_cost", cost_comparisons=[compared], unit=money),
        told("convergence", main=[main_row(budget=0.25)], unit=money),
    ]
    said = [topic.summary for topic in topics]
    said += [finding.sentence + finding.short for topic in topics for finding in topic.findings]
    assert not any("token" in sentence or "k " in sentence for sentence in said)
    assert "Advisory at B = $0.25 costs $0.0374 on average" in said[3]
    assert "strict costs as much at B = $0.0412" in said[3]
    assert "Cost −$0.20 [−0.25, −0.151]" in said[4]


def test_the_story_speaks_the_unit():
    row = main_row(budget=90.0) | {"advisory_accuracy": 50.0, "strict_accuracy": 40.0}

    def lines_of(row, unit):
        tables = {"main": [row], "matched_cost": [matched_row(budget=7.0)], "spending": lost(10)}
        return story_lines(read_story(given(tables)), UNITS[unit])

    lines = lines_of(row, "seconds")
    assert lines[0].startswith("With 90 s a problem, ")
    assert not any("token" in line for line in lines)
    assert "With 1 step a problem, " in lines_of(row | {"budget": 1}, "steps")[0]


def lost(*points):
    """Rows of `spending`, at 4k, 8k, 16k, … in turn."""
    return [
        {"archive": "a", "rule": "strict", "budget": 4000 * 2**place, "lost": float(value)}
        for place, value in enumerate(points)
    ]


@pytest.mark.parametrize(("points", "budget"), [((80, 20, 5, 1), 16000), ((80, 20, 9, 6), 4000)])
def test_the_story_begins_with_a_budget_that_a_person_would_set(points, budget):
    """The smallest at which strict loses at most 5 points, else the largest effect."""
    rows = [main_row(budget=row["budget"]) | {"delta": row["lost"]} for row in lost(*points)]
    tables = {"main": rows, "matched_cost": [matched_row()], "spending": lost(*points)}
    story = read_story(given(tables))
    assert (story["budget"], story["is_near"]) == (budget, budget == 16000)


CONTROL = {"control": "aligned_cost", "selector": "majority", "comparisons": 60480}
LATE = [main_row(budget=4000, delta=0.1), main_row(budget=8000, delta=1.5)]
NEAR, FAR, FOUR = main_row("a", delta=1.49), main_row("b", delta=1.5), main_row("c", delta=0.2)
LOST, LOST_PERHAPS = selector_row(-0.71, -1.29, -0.17), selector_row(-0.2, -0.9, 0.3)


@pytest.mark.parametrize(
    ("name", "tables", "words_used"),
    [
        (
            "dominant_effect",
            {"main": [main_row()], "transitions": [transition_row(1.0, 2.0, 8.0)]},
            ["Changed votes", "correct answers that became wrong (8.00 of 11.00"],
        ),
        (
            "dominant_effect",
            {"main": [main_row(delta=0.0)], "transitions": [transition_row(0.0, 0.0, 0.0)]},
            ["Nothing changed at 4k: both rules select alike.", "No replay changed between"],
        ),
        ("convergence", {"main": LATE}, ["do not converge", "at any budget replayed."]),
        ("convergence", {"main": [NEAR]}, ["below 1.5 points"]),
        ("convergence", {"main": [NEAR, FAR, FOUR]}, ["in 2 of 3 archives", "do not converge"]),
        ("convergence", {"main": [NEAR, FOUR]}, ["in both archives"]),
        (
            "coverage_and_accuracy",
            {"main": [main_row(delta_coverage=0.0)], "selectors": [LOST]},
            ["More candidates never lowered accuracy."],
        ),
        (
            "coverage_and_accuracy",
            {"main": [main_row()], "selectors": [LOST_PERHAPS]},
            ["does not exclude no change", "no such interval excludes zero"],
        ),
        (
            "matched_cost",
            {"matched_cost": [matched_row(1.0, -1.0, 3.0)]},
            ["At equal cost no interval excludes", "more than 3.50 points is excluded"],
        ),
        (
            "realized_cost",
            {"cost_comparisons": [cost_row(cost_difference_high=-100.0)]},
            ["has no zero in it"],
        ),
        ("control_checks", {"controls": [CONTROL | {"disagreements": 0}]}, ["in all 60,480"]),
        (
            "control_checks",
            {"controls": [CONTROL | {"disagreements": 3}]},
            ["A control fails", "3 of 60,480 comparisons disagree"],
        ),
    ],
)
def test_a_finding_says_what_its_rows_say(name, tables, words_used):
    topic = told(name, **tables)
    everything = " ".join([topic.summary, *(finding.sentence for finding in topic.findings)])
    assert all(words in everything for words in words_used), everything


def test_a_topic_without_labels_says_nothing():
    assert told("matched_cost", matched_cost=[matched_row() | {"delta": None}]) is None
