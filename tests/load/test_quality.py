"""Thresholds of data_quality at their edges, and each check of the records by hand."""

import duckdb
import pytest

from audit import engine
from audit.engine.quality import count_records, find_quality_notes
from audit.load.schema import create_schema

# The largest share that passes and the smallest that does not, for every line of the thresholds.
# check, count and total that are as given, severity.
EDGES = [
    ("finished", 50, 100, "ok"), ("finished", 499, 1000, "warn"),
    ("finished", 1, 100, "warn"), ("finished", 9, 1000, "fail"),
    ("answered", 90, 100, "ok"), ("answered", 899, 1000, "warn"),
    ("answered", 1, 100, "warn"), ("answered", 9, 1000, "fail"),
    ("answers_disagree", 10, 100, "ok"), ("answers_disagree", 101, 1000, "warn"),
    ("answers_missed", 10, 100, "ok"), ("answers_missed", 101, 1000, "warn"),
    ("right_not_eligible", 5, 100, "ok"), ("right_not_eligible", 51, 1000, "warn"),
    ("right_not_eligible", 1, 5, "warn"), ("right_not_eligible", 201, 1000, "fail"),
    ("unknown_finish_reasons", 0, 100, "ok"), ("unknown_finish_reasons", 1, 1000, "warn"),
    ("references_differ", 0, 100, "ok"), ("references_differ", 1, 1000, "warn"),
    ("labels_missing", 0, 100, "ok"), ("labels_missing", 1, 1000, "warn"),
    ("labels_all_equal", 19, 19, "ok"), ("labels_all_equal", 20, 20, "warn"),
    ("labels_in_conflict", 5, 100, "ok"), ("labels_in_conflict", 51, 1000, "warn"),
    ("labels_unlike_grades", 5, 100, "ok"), ("labels_unlike_grades", 51, 1000, "warn"),
    ("problems_dropped", 0, 100, "ok"), ("problems_dropped", 1, 1000, "warn"),
    ("costs_counted", 0, 100, "ok"), ("costs_counted", 1, 1000, "warn"),
    ("unused_cost_columns", 0, 100, "ok"), ("unused_cost_columns", 1, 1000, "warn"),
    ("repeats_told_apart_by", 0, 100, "ok"), ("repeats_told_apart_by", 1, 1000, "warn"),
    ("costs_constant", 19, 19, "ok"), ("costs_constant", 20, 20, "warn"),
    ("costs_extreme", 0, 100, "ok"), ("costs_extreme", 1, 1000, "warn"),
    ("costs_at_a_limit", 19, 19, "ok"), ("costs_at_a_limit", 3, 20, "warn"),
    ("costs_at_a_limit", 3, 300, "ok"), ("costs_at_a_limit", 3, 299, "warn"),
    ("reasoning_not_counted", 0, 100, "ok"), ("reasoning_not_counted", 1, 1000, "warn"),
    ("texts_longer_than_costs", 0, 100, "ok"), ("texts_longer_than_costs", 1, 1, "warn"),
    ("sampling_mixed", 0, 100, "ok"), ("sampling_mixed", 1, 1000, "warn"),
    ("banks_uneven", 0, 100, "ok"), ("banks_uneven", 1, 1000, "warn"),
    ("texts_cut", 1, 100, "ok"), ("texts_cut", 11, 1000, "warn"),
    ("duplicate_texts", 19, 19, "ok"), ("duplicate_texts", 1, 20, "ok"),
    ("duplicate_texts", 2, 39, "warn"),
    ("duplicate_records", 19, 19, "ok"), ("duplicate_records", 1, 20, "ok"),
    ("duplicate_records", 2, 21, "ok"), ("duplicate_records", 2, 20, "warn"),
    ("eligibility_tells_labels", 19, 19, "ok"), ("eligibility_tells_labels", 20, 20, "fail"),
    ("eligibility_tells_labels", 0, 20, "ok"),
    ("labels_constant_in_problem", 9, 9, "ok"), ("labels_constant_in_problem", 2, 10, "ok"),
    ("labels_constant_in_problem", 3, 10, "fail"),
    ("logprobs_missing", 5, 100, "ok"), ("logprobs_missing", 51, 1000, "warn"),
    ("logprobs_missing", 999, 1000, "warn"), ("logprobs_missing", 1000, 1000, "ok"),
    ("scores_missing", 0, 100, "ok"), ("scores_missing", 1, 1000, "warn"),
    ("scores_tell_labels", 19, 19, "ok"), ("scores_tell_labels", 969, 1000, "ok"),
    ("scores_tell_labels", 97, 100, "warn"), ("scores_tell_labels", 99, 100, "fail"),
    ("banks_below_cap", 0, 100, "ok"), ("banks_below_cap", 1, 1000, "warn"),
    ("beyond_live_budget", 0, 100, "ok"), ("beyond_live_budget", 1, 1000, "warn"),
    ("ended_by_bank", 5, 100, "ok"), ("ended_by_bank", 51, 1000, "warn"),
    ("never_binds", 95, 100, "ok"), ("never_binds", 951, 1000, "warn"),
    ("problems_without_votes", 50, 100, "ok"), ("problems_without_votes", 501, 1000, "warn"),
    ("problems_without_votes", 99, 100, "warn"), ("problems_without_votes", 991, 1000, "fail"),
    ("cut_by_live_budget", 0, 100, "ok"), ("cut_by_live_budget", 1, 1000, "warn"),
    ("prompts_unknown", 0, 100, "ok"), ("prompts_unknown", 1, 1000, "warn"),
    ("seconds_beside_steps", 90, 100, "ok"), ("seconds_beside_steps", 899, 1000, "warn"),
    ("labels_all_equal", 1, 1000, "warn"), ("costs_constant", 1, 1000, "warn"),
    ("texts_longer_than_costs", 1, 1000, "warn"),
    ("duplicate_texts", 2, 20, "warn"),
    # One of one is looked at, but where it takes twenty.
    ("finished", 0, 1, "fail"), ("answered", 0, 1, "fail"),
    *((check, 1, 1, "fail")
      for check in ("right_not_eligible", "problems_without_votes")),
    *((check, 1, 1, "warn")
      for check in (
        "answers_disagree", "answers_missed", "unknown_finish_reasons", "references_differ",
        "labels_missing", "labels_in_conflict", "labels_unlike_grades", "problems_dropped",
        "costs_counted", "reasoning_not_counted", "sampling_mixed", "banks_uneven",
        "costs_extreme", "texts_cut", "scores_missing", "banks_below_cap", "beyond_live_budget",
        "ended_by_bank", "never_binds", "prompts_unknown",
      )),
]  # fmt: skip


@pytest.fixture
def con():
    with duckdb.connect() as con:
        create_schema(con)
        yield con


def test_every_threshold_holds_at_its_edge(con):
    for number, (check, count, total, _) in enumerate(EDGES):
        row = [f"{number:03}", check, None, count, total]
        con.execute("insert into quality_counts values (?, ?, ?, ?, ?, false)", row)
    # What is looked at of nothing is no finding.
    con.execute("insert into quality_counts values ('none', 'finished', null, 0, 0, false)")
    rows = con.sql(engine.render("data_quality")).to_arrow_table().to_pylist()
    found = {row["archive"]: row for row in rows}
    wrong = [
        (edge, found[f"{number:03}"]["severity"])
        for number, edge in enumerate(EDGES)
        if found[f"{number:03}"]["severity"] != edge[3]
    ]
    assert wrong == []
    assert found["none"]["severity"] == "ok"
    judged = {row[0] for row in con.execute(engine.render("thresholds")).fetchall()}
    assert {check for check, *_ in EDGES} == judged


class Records:
    """A database that is filled attempt by attempt."""

    def __init__(self, con):
        self.con, self.count = con, 0

    def add(self, archive="m", *, problem=0, times=1, text=None, correct=None, scores=(), **more):
        for _ in range(times):
            key = (archive, "C", problem, self.count)
            self.count += 1
            answer = more.get("answer", "1")
            values = {
                "archive": archive, "competition": "C", "question_id": problem, "seed": key[3],
                "slot": 0, "prompt_tokens": 0, "completion_tokens": 100, "finish_reason": "stop",
                "answer": answer,
            } | more  # fmt: skip
            is_finished = values["finish_reason"] == "stop"
            values.setdefault("eligible", is_finished and answer is not None)
            names = ", ".join(values)
            marks = ", ".join("?" for _ in values)
            self.con.execute(f"insert into attempts ({names}) values ({marks})", [*values.values()])
            self.con.execute("insert into labels values (?, ?, ?, ?, ?, ?, 0)",
                             [*key, correct, correct])  # fmt: skip
            if text is not None:
                self.con.execute("insert into texts values (?, ?, ?, ?, ?)", [*key, text])
            for score, value in scores:
                row = [*key, score, value]
                self.con.execute("insert into recorded_scores values (?, ?, ?, ?, ?, ?)", row)

    def counted(self, check, archive="m"):
        count_records(self.con)
        query = 'select count, total from quality_counts where "check" = ? and archive = ?'
        rows = self.con.execute(query, [check, archive]).fetchall()
        return rows[0] if rows else None


@pytest.fixture
def records(con):
    return Records(con)


def test_right_attempts_that_cannot_be_picked_are_counted(records):
    records.add(correct=True, times=3)
    records.add(correct=True, answer=None)
    records.add(correct=True, finish_reason="length")
    records.add(correct=False, answer=None)
    records.add(correct=None, answer=None)
    assert records.counted("right_not_eligible") == (2, 5)


def test_answers_that_only_the_source_has_are_counted(records):
    records.add(archive_answer="1")
    records.add(archive_answer="1", answer=None)
    records.add(archive_answer=None, answer=None)
    records.add(archive_answer="1", answer=None, finish_reason="length")
    assert records.counted("answers_missed") == (1, 2)


def test_a_limit_in_costs_is_seen_from_three_finished_attempts_on(records):
    records.add(completion_tokens=50)
    records.add(completion_tokens=4000, times=2)
    assert records.counted("costs_at_a_limit") == (0, 3)
    records.add(completion_tokens=4000)
    assert records.counted("costs_at_a_limit") == (3, 4)
    # Those that say they were cut are known; the largest cost is of all attempts.
    records.add(completion_tokens=4000, finish_reason="length")
    assert records.counted("costs_at_a_limit") == (3, 4)
    records.add(completion_tokens=4001, finish_reason="length")
    assert records.counted("costs_at_a_limit") == (0, 4)
    records.add("same", completion_tokens=7, times=5)
    assert records.counted("costs_at_a_limit", "same") == (0, 5)


def test_banks_of_other_sizes_are_counted(records):
    for problem, times in enumerate((3, 3, 2, 1)):
        records.add(problem=problem, times=times)
    assert records.counted("banks_uneven") == (2, 4)


def test_reasoning_beyond_the_completion_is_counted(records):
    for reasoning in (None, 0, 100, 101):
        records.add(reasoning_tokens=reasoning)
    assert records.counted("reasoning_not_counted") == (1, 3)
    # A total of 160 has 50 of reasoning beside 100 of completion; one of 110 has them within.
    for total, prompt in ((160, 10), (110, 10), (159, 10), (160, 0)):
        records.add("n", reasoning_tokens=50, total_tokens=total, prompt_tokens=prompt)
    assert records.counted("reasoning_not_counted", "n") == (1, 4)


def test_texts_are_longer_than_costs_above_eight_characters_a_token(records):
    # Characters, not bytes, over the whole archive: 16 for 2 tokens, then 17.
    records.add(text="ж" * 9, completion_tokens=1)
    records.add(text="x" * 7, completion_tokens=1)
    records.add(text=None, completion_tokens=1)
    assert records.counted("texts_longer_than_costs") == (0, 2)
    records.add("n", text="x" * 9, completion_tokens=1)
    assert records.counted("texts_longer_than_costs", "n") == (1, 1)
    # Reasoning beside the text counts with it.
    records.add("within", text="x" * 3, reasoning_length=5, completion_tokens=1)
    assert records.counted("texts_longer_than_costs", "within") == (0, 1)
    records.add("beyond", text="x" * 3, reasoning_length=6, completion_tokens=1)
    assert records.counted("texts_longer_than_costs", "beyond") == (1, 1)


def test_other_samplings_of_an_archive_are_counted(records):
    records.add(temperature=0.6, top_p=0.95, times=3)
    records.add(temperature=1.0, top_p=0.95, times=2)
    records.add(temperature=0.6, top_p=1.0)
    records.add(temperature=0.6, top_p=0.95, max_tokens=4096)
    records.add()
    assert records.counted("sampling_mixed") == (4, 7)
    records.add("n", temperature=0.6, times=2)
    assert records.counted("sampling_mixed", "n") == (0, 2)


def test_attempts_that_repeat_in_text_or_answer_cost_and_label_are_counted(records):
    records.add(text="5", times=3)
    records.add(text="6")
    records.add(text="5", completion_tokens=7)
    records.add(text="5", mean_logprob=-0.25)
    records.add(text="5", correct=True)
    records.add(text="5", problem=1)
    # The check of long texts has these.
    records.add(text="x" * 200, times=2)
    assert records.counted("duplicate_records") == (2, 10)
    # Without texts the answer counts; an attempt that was cut off without one says too little.
    records.add("n", times=3)
    records.add("n", answer="6")
    records.add("n", answer=None, finish_reason="length", completion_tokens=4000, times=5)
    assert records.counted("duplicate_records", "n") == (2, 9)


def test_eligibility_that_is_the_label_is_counted(records):
    def add(archive, right, wrong, other_right, other_wrong):
        records.add(archive, correct=True, times=right)
        records.add(archive, correct=False, times=wrong)
        records.add(archive, correct=True, answer=None, times=other_right)
        records.add(archive, correct=False, answer=None, times=other_wrong)

    add("edge", 49, 1, 1, 49)
    add("wrong", 48, 1, 1, 49)
    add("right", 49, 1, 1, 48)
    add("all", 50, 1, 0, 0)
    add("none", 0, 0, 1, 50)
    add("alike", 0, 20, 0, 20)
    found = [records.counted("eligibility_tells_labels", a)
             for a in ("edge", "wrong", "right", "all", "none", "alike")]  # fmt: skip
    assert found == [(100, 100), (0, 99), (0, 99), (0, 51), (0, 51), (0, 40)]


def test_one_label_for_all_attempts_of_every_problem_is_counted(records):
    for problem in range(4):
        for answer in ("1", "2" if problem else "1"):
            records.add(problem=problem, correct=problem % 2 == 0, answer=answer)
    records.add(problem=9, correct=True)
    # That of which all answers are one may well have one label.
    assert records.counted("labels_constant_in_problem") == (3, 4)
    records.add(problem=2, correct=False)
    assert records.counted("labels_constant_in_problem") == (0, 4)
    records.add("one", correct=True, times=3, answer=None)
    assert records.counted("labels_constant_in_problem", "one") == (0, 1)


def test_a_long_text_has_two_hundred_bytes(records):
    records.add(text="x" * 199, times=2)
    assert records.counted("duplicate_texts") is None
    records.add(text="x" * 200, times=2)
    assert records.counted("duplicate_texts") == (1, 2)


def test_texts_are_cut_at_one_length_from_three_of_a_thousand_bytes_on(records):
    records.add("short", text="x" * 999, times=4)
    assert records.counted("texts_cut", "short") == (0, 4)
    records.add("two", text="x" * 1000, times=2)
    assert records.counted("texts_cut", "two") == (0, 2)
    records.add("three", text="x" * 1000, times=3)
    records.add("three", text="x" * 999)
    assert records.counted("texts_cut", "three") == (3, 4)


def test_a_cost_is_extreme_above_a_hundred_times_the_usual(records):
    # Of 20 attempts the 19th cheapest is what 95 % cost at most.
    records.add(completion_tokens=10, times=19)
    records.add(completion_tokens=1000)
    assert records.counted("costs_extreme") == (0, 20)
    records.add("n", completion_tokens=10, times=19)
    records.add("n", completion_tokens=1001)
    assert records.counted("costs_extreme", "n") == (1, 20)


def test_a_cost_is_usual_where_the_dearest_of_the_other_archives_says_so(records):
    records.add("cheap", completion_tokens=10)
    records.add("dear", completion_tokens=1000)
    records.add(completion_tokens=100_000)
    assert records.counted("costs_extreme") == (0, 1)
    records.add(completion_tokens=100_001)
    assert records.counted("costs_extreme") == (1, 2)


def test_missing_scores_are_counted_among_attempts_that_may_be_picked(records):
    records.add(scores=[("prm", 0.5), ("judge", 1.0)])
    records.add(scores=[("prm", 0.5)])
    records.add(scores=[])
    records.add(scores=[], answer=None)
    records.add("n", times=3)
    assert records.counted("scores_missing") == (2, 3)
    assert records.counted("scores_missing", "n") is None


def test_seconds_that_steps_leave_out_are_counted_in_thousandths(records):
    records.add("none", seconds=5.0)
    for archive, steps in (("m", (1.0, 2.5)), ("unknown", (1.0, None))):
        records.add(archive, seconds=10.0)
        for number, seconds in enumerate(steps, 1):
            records.con.execute(
                "insert into steps select archive, competition, question_id, seed, $number, 1, 0, "
                "1, null, $seconds from attempts where archive = $archive",
                {"archive": archive, "number": number, "seconds": seconds},
            )
    assert records.counted("seconds_beside_steps") == (3500, 10000)
    assert records.counted("seconds_beside_steps", "none") is None
    assert records.counted("seconds_beside_steps", "unknown") is None


def test_a_score_tells_labels_over_the_pairs_of_a_bank(records):
    for problem in range(5):
        # Over the archive it is no order of right and wrong, within every bank it is.
        records.add(problem=problem, correct=True, times=2, scores=[("prm", 10 * problem + 1.0)])
        records.add(problem=problem, correct=False, times=2, scores=[("prm", 10.0 * problem)])
    assert records.counted("scores_tell_labels") == (20, 20)
    # A tie tells nothing; attempts without a label, or without the score, make no pairs.
    records.add(correct=False, scores=[("prm", 1.0)])
    records.add(correct=None, scores=[("prm", 9.0)])
    records.add(correct=False, scores=[("other", 9.0)])
    assert records.counted("scores_tell_labels") == (20, 22)
    records.add("turned", correct=True, times=5, scores=[("prm", 0.4)])
    records.add("turned", correct=False, times=5, scores=[("prm", 0.5)])
    assert records.counted("scores_tell_labels", "turned") == (0, 25)
    records.add("one", correct=True, times=25, scores=[("prm", 0.4)])
    assert records.counted("scores_tell_labels", "one") is None
    # The worst of several scores counts, of those of 20 pairs.
    few = [("few", 2.0), ("a", 1.0), ("b", 0.0)]
    records.add("some", correct=True, times=5, scores=few[1:])
    records.add("some", correct=False, times=4, scores=[("a", 0.0), ("b", 1.0)])
    records.add("some", correct=True, scores=few)
    records.add("some", correct=False, scores=[("few", 0.0), ("a", 2.0), ("b", 0.0)])
    assert records.counted("scores_tell_labels", "some") == (24, 30)
    # The log-probability is a score.
    records.add("logprob", correct=True, times=5, mean_logprob=-0.1)
    records.add("logprob", correct=False, times=4, mean_logprob=-0.2)
    assert records.counted("scores_tell_labels", "logprob") == (20, 20)


def test_the_score_that_tells_labels_is_named_in_each_archive(records):
    for archive, telling in (("one", "prm"), ("two", "judge"), ("three", "prm")):
        other = "judge" if telling == "prm" else "prm"
        for correct in (True, False):
            scores = [(telling, float(correct)), (other, 0.0)]
            records.add(archive, correct=correct, times=5, scores=scores)
    count_records(records.con)
    told = [line for line in find_quality_notes(records.con) if "tell_labels" in line]
    assert len(told) == 2
    assert "'two' 25 of 25: the score 'judge' is larger" in told[0]
    assert "'one' 25 of 25, 'three' 25 of 25: the score 'prm' is larger" in told[1]
    # A replay that leaves out the problem is judged by the others.
    for correct in (True, False):
        scores = [("judge", 0.0), ("len", float(correct))]
        records.add("two", problem=1, correct=correct, times=9, scores=scores)
    records.con.execute("insert into unreplayed_problems values ('two', 'C', 0)")
    records.con.execute("update quality_counts set is_of_replay = true")
    told = "".join(line for line in find_quality_notes(records.con) if "'two'" in line)
    assert "the score 'len' is larger" in told and "'judge'" not in told


def test_unknown_prompts_are_told_where_the_replay_counts_them(records):
    records.add("none", times=2)
    records.add("some")
    records.add("some", prompt_tokens=1)
    con = records.con
    key = "archive, competition, question_id"
    con.execute(f"create table replayed_problems as select distinct {key} from attempts")
    con.execute("create table settings (key varchar, value varchar)")
    counted = {}
    for unit in ("completion", "total", "money", "seconds", "steps"):
        for prices in ("[]", '[["none", 1, 1, 1]]'):
            con.execute("delete from settings")
            con.execute("insert into settings values ('unit', ?), ('prices', ?)", [unit, prices])
            sql = f"select archive, count, total from ({engine.render('prompts_unknown')})"
            counted[unit, prices != "[]"] = con.execute(f"{sql} order by archive").fetchall()
    told, untold = [("none", 2, 2), ("some", 0, 2)], [("none", 0, 2), ("some", 0, 2)]
    counting = {("total", False), ("total", True), ("money", True)}
    assert counted == {key: told if key in counting else untold for key in counted}


def test_a_failed_attempt_ended_for_a_known_reason(records):
    for reason in ("stop", "length", "error", "eos"):
        records.add(finish_reason=reason)
    assert records.counted("unknown_finish_reasons") == (1, 4)
