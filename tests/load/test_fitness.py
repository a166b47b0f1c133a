"""Records that do not fit are refused or told: each case through the command line, by hand."""

from functools import partial

import duckdb
import pyarrow as pa
import pytest

import audit
from audit import database, engine
from audit.database import insert
from audit.engine.quality import find_quality_notes
from tests.support import archives
from tests.support.command import read_streams
from tests.support.logs import lines

LONG = "Let us see. " * 20


def attempt(question, seed, answer, correct=True, archive="m", **more):
    """One record; the answer stands in a box, unless a text says otherwise."""
    cost = 100 + 7 * seed + question
    known = {"correct": correct, "archive": archive, "question": question}
    return archives.attempt(seed, cost, answer, **known) | more


def bank(archive="m", problems=3, attempts=8):
    """A clean archive: answers 1 and 2, of which 1 is right."""
    return [
        attempt(question, seed, 1 + (seed % 3 == 0), seed % 3 != 0, archive=archive)
        for question in range(problems)
        for seed in range(attempts)
    ]


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """The command, run in this process in a folder of its own: what it prints and tells."""
    monkeypatch.chdir(tmp_path)
    run = partial(read_streams, tmp_path)
    run.folder = tmp_path
    return run


def rows_of(sql, path="audit.duckdb"):
    with duckdb.connect(path, read_only=True) as con:
        return con.execute(sql).fetchall()


def state(path="audit.duckdb"):
    """Every loaded row."""
    tables = "attempts texts raw_answers recorded_answers labels accepted_references grades"
    tables += " problem_names quality_counts meta"
    return {name: rows_of(f"from {name} order by all", path) for name in tables.split()}


def quality(path="audit.duckdb", archive="m"):
    """The checks of an archive: count, total and severity."""
    with database.connect(path, read_only=True) as con:
        rows = engine.compute_table(con, "data_quality").to_pylist()
    return {
        row["check"]: (row["count"], row["total"], row["severity"])
        for row in rows
        if row["archive"] == archive
    }


# The gate


def test_a_clean_file_loads_without_a_word(tool):
    lines(tool.folder / "a.jsonl", bank())
    assert tool("load", "a.jsonl").err == ""
    assert {severity for _, _, severity in quality().values()} == {"ok"}


def test_an_archive_without_boxes_is_refused_with_what_each_kind_would_give(tool):
    said = [
        attempt(q, s, "", text=f"ANSWER: {s}", archive_answer=str(s) if s else None)
        for q in range(2)
        for s in range(5)
    ]
    said.append(attempt(0, 9, "", text="ANSWER: 9", archive_answer="9", finish_reason="length"))
    lines(tool.folder / "a.jsonl", said)
    line = tool("load", "a.jsonl", status=2).err
    assert line == (
        "error: archive 'm': none of its 10 finished attempts has an answer: --answer archive "
        "gives 8, --answer boxed gives 0; pass --answer archive, or --force to continue without\n"
    )
    assert not (tool.folder / "audit.duckdb").exists()
    tool("load", "a.jsonl", "--answer", "archive")
    assert rows_of("select count(*) from attempts where eligible") == [(8,)]
    tool("load", "a.jsonl", "--answer", r"regex:ANSWER: (\w+)", "--replace")
    assert rows_of("select count(*) from attempts where eligible") == [(10,)]


def test_the_gate_counts_boxes_where_another_kind_was_asked_for(tool):
    lines(tool.folder / "a.jsonl", [*bank(), attempt(0, 99, 1, finish_reason="length")])
    line = tool("load", "a.jsonl", "--answer", "regex:ANSWER: (.+)", status=2).err
    told = "--answer archive gives 0, --answer boxed gives 24, --answer regex:ANSWER: (.+) gives 0"
    assert f"24 finished attempts has an answer: {told}; pass --answer boxed, or" in line
    line = tool("load", "a.jsonl", "--answer", "regex:ANSWER: (.+)", "--no-texts", status=2).err
    assert "boxed" not in line and "pass --answer 'regex:PATTERN'" in line


@pytest.mark.parametrize("reason", ["end_turn", "STOP", "stop "])
def test_other_words_for_finished_are_refused_until_they_are_named(tool, reason):
    rows = [row | {"finish_reason": reason} for row in bank()]
    rows[0]["finish_reason"] = rows[1]["finish_reason"] = "length"
    lines(tool.folder / "a.jsonl", rows)
    line = tool("load", "a.jsonl", status=2).err
    assert "none of its 24 attempts counts as finished: finish_reason is " in line
    assert f"'{reason}' (22), 'length' (2); pass --finished " in line
    tool("load", "a.jsonl", "--finished", f"other,{reason}")
    kept = "select finish_reason, count(*) from attempts where eligible group by all"
    assert rows_of(kept) == [("stop", 22)]
    assert rows_of("select count(*) from attempts where finish_reason = 'length'") == [(2,)]
    told = tool("table", "data_quality").err
    assert f"counted as finish reason stop: other, {reason}" in told


def test_force_loads_what_cannot_be_picked_and_data_quality_says_so(tool):
    lines(tool.folder / "a.jsonl", [row | {"finish_reason": "length"} for row in bank()])
    line = tool("load", "a.jsonl", status=2).err
    assert "finish_reason is 'length' (24); pass --finished REASON to count" in line
    told = tool("load", "a.jsonl", "--force").err
    assert told.startswith("fail: finished: 'm' 0 of 24: ")
    assert quality()["finished"] == (0, 24, "fail")


def test_one_unfit_archive_refuses_the_load_of_many_and_one_that_is_there_does_not(tool):
    unfit = [row | {"archive": "u", "text": "no"} for row in bank()]
    lines(tool.folder / "a.jsonl", unfit)
    lines(tool.folder / "b.jsonl", bank())
    assert "archive 'u'" in tool("load", "a.jsonl", "b.jsonl", status=2).err
    tool("load", "a.jsonl", "--force")
    assert tool("load", "b.jsonl").err == ""


# References of an attempt's own


def test_shuffled_choices_do_not_accept_every_letter(tool):
    rows = [
        attempt(0, 0, "A", True, references=["A"]),
        attempt(0, 1, "A", False, references=["B"]),
        attempt(0, 2, "C", False, references=["C", " C "]),
        attempt(0, 3, "B", False, references=["", None]),
        attempt(0, 4, "D", False),
        attempt(0, 0, "C", False, archive="n", references=["D"]),
        attempt(0, 1, "D", False, archive="n"),
        attempt(0, 2, "A", False, archive="n", references=[]),
        attempt(0, 0, "A", False, archive="o"),
        attempt(0, 1, "D", False, archive="o"),
        attempt(0, 2, "E", False, archive="o"),
    ]
    lines(tool.folder / "a.jsonl", rows)
    told = tool("load", "a.jsonl").err
    assert "warn: references_differ: 'm' 1 of 1: " in told
    repaired = rows_of("select archive, seed from grades where repaired_correct order by all")
    # Without references of its own a row takes its archive's (m: A, B, C; n: D), or else all (o).
    assert repaired == [("m", 0), ("m", 2), ("m", 3), ("n", 1), ("o", 0), ("o", 1)]
    sets = "select archive, references_id, reference from accepted_references order by all"
    assert [row[1:] for row in rows_of(sets) if row[0] == "m"] == [
        (0, "A"),
        (0, "B"),
        (0, "C"),
        (1, "A"),
        (2, "B"),
        (3, "C"),
    ]
    lines(tool.folder / "b.jsonl", [attempt(0, 0, "E", True, archive="p", references=["E"])])
    tool("load", "b.jsonl")
    more = rows_of("select seed from grades where repaired_correct and archive = 'o' order by all")
    assert more == [(0,), (1,), (2,)]


# Labels that are missing


def unlabelled(rows, *keys):
    return [row | {"correct": None} if (row["question_id"], row["seed"]) in keys else row
            for row in rows]  # fmt: skip


@pytest.mark.parametrize("labels", [{"correct": None}, {}])
def test_an_archive_without_any_label_is_loaded(tool, labels):
    rows = [{k: v for k, v in row.items() if k != "correct"} | labels for row in bank()]
    lines(tool.folder / "a.jsonl", rows)
    told = tool("load", "a.jsonl").err
    assert told.startswith("warn: labels_missing: 'm' 24 of 24: ")
    assert rows_of("select distinct correct, repaired_correct from grades") == [(None, None)]
    lines(tool.folder / "b.jsonl", bank("n"))
    tool("load", "b.jsonl")
    graded = rows_of("select distinct correct from grades where archive = 'n' order by all")
    assert graded == [(False,), (True,)]
    told = tool("table", "data_quality").err
    assert "no labels, so nothing that needs them: m" in told


def test_some_missing_labels_are_refused_with_their_count(tool):
    lines(tool.folder / "a.jsonl", unlabelled(bank(), (1, 2), (1, 5), (2, 7)))
    assert tool("load", "a.jsonl", status=2).err == (
        "error: archive 'm': 3 of its 24 attempts have no label; pass --unlabelled wrong to count "
        "those as incorrect, or --unlabelled drop to leave out their problems\n"
    )


def test_missing_labels_may_count_as_incorrect(tool):
    lines(tool.folder / "a.jsonl", unlabelled(bank(), (1, 2), (1, 5), (2, 7)))
    lines(tool.folder / "b.jsonl", [row | {"correct": None} for row in bank("none")])
    told = tool("load", "a.jsonl", "b.jsonl", "--unlabelled", "wrong").err
    assert "warn: labels_missing: 'm' 3 of 24, 'none' 24 of 24: " in told
    # 2 of 3 seeds are right: 5 of 8; three of those 15 labels are gone.
    right = "select archive, count(*) filter (correct), count(correct) from grades group by 1"
    assert sorted(rows_of(right)) == [("m", 12, 24), ("none", 0, 0)]
    assert "missing labels counted as incorrect: m 3 of 24" in tool("table", "data_quality").err


def test_problems_with_a_missing_label_may_be_left_out_as_if_never_loaded(tool):
    named = [{**row, "problem_id": f"p{row['question_id']}", "question_id": None} for row in bank()]
    named = [{k: v for k, v in row.items() if k != "question_id"} for row in named]
    gaps = [row | {"correct": None} if row["problem_id"] == "p0" and row["seed"] == 3 else row
            for row in named]  # fmt: skip
    other = [row | {"archive": "n"} for row in named if row["problem_id"] == "p2"]
    lines(tool.folder / "a.jsonl", gaps + other)
    lines(tool.folder / "b.jsonl", [row for row in gaps + other if row["problem_id"] != "p0"])
    told = tool("load", "a.jsonl", "--unlabelled", "drop").err
    assert told.startswith("warn: problems_dropped: 'm' 1 of 3: ")
    tool("load", "b.jsonl", "--db", "b.duckdb")
    found, plain = state(), state("b.duckdb")
    assert [row for row in found.pop("quality_counts") if row[1] != "problems_dropped"] == (
        plain.pop("quality_counts")
    )
    assert dict(found.pop("meta")) == dict(plain.pop("meta")) | {
        "unlabelled": "problems with a missing label left out: m 1 of 3"
    }
    assert found == plain
    assert "problems with a missing label left out" in tool("table", "data_quality").err
    tool("load", "b.jsonl", "--replace")
    assert state() == state("b.duckdb")


def test_leaving_out_every_problem_is_refused(tool):
    lines(tool.folder / "a.jsonl", unlabelled(bank(), (0, 1), (1, 1), (2, 1)))
    line = tool("load", "a.jsonl", "--unlabelled", "drop", status=2).err
    assert "each of the 3 problems of archive 'm' has an attempt without a label" in line


def test_references_grade_an_archive_without_labels(tool):
    rows = [row | {"correct": None, "references": ["1"]} for row in bank()]
    lines(tool.folder / "a.jsonl", rows)
    told = tool("load", "a.jsonl", "--grade", "references").err
    assert told == "note: --grade references: archive 'm': 15 of 24 (62.50 %) match\n"
    assert rows_of("select count(*) from grades where correct") == [(15,)]
    assert quality()["labels_missing"] == (0, 24, "ok")


def test_grading_by_references_is_compared_with_the_labels_of_the_log(tool):
    rows = [row | {"references": ["I think, so #### 1"]} for row in bank()]
    rows[0]["references"] = ["2"]
    lines(tool.folder / "a.jsonl", rows)
    told = tool("load", "a.jsonl", "--grade", "references").err
    # The log calls 15 of 24 correct; one answer matches, which the log calls wrong.
    assert (
        "note: --grade references: archive 'm': 1 of 24 (4.17 %) match; the source's own labels "
        "call 15 of 24 (62.50 %) correct, and 8 of 24 (33.33 %) agree\n"
    ) in told
    assert "warn: labels_unlike_grades: 'm' 16 of 24: " in told
    assert quality()["labels_unlike_grades"] == (16, 24, "warn")
    rows = [row | {"references": ["#### 1"], "correct": "C"} for row in bank()]
    lines(tool.folder / "a.jsonl", rows)
    told = tool("load", "a.jsonl", "--grade", "references", "--replace").err
    assert "0 of 24 (0.00 %) match; are the references whole solutions, or written in" in told


# Another kind of answer, in place


def mixed():
    """Boxes and extractions that part ways, a recorded box, an answerless row."""
    rows = bank("n") + [row | {"archive_answer": " 02 "} for row in bank()]
    rows.append(attempt(0, 50, "", text=None, boxed_answer=" 3 ", archive_answer="4"))
    rows.append(attempt(0, 51, "", text="nothing", archive_answer="$5$", finish_reason="length"))
    return [row | {"archive_answer": row.get("archive_answer", "1"), "references": ["2"]}
            for row in rows]  # fmt: skip


def test_changing_answers_makes_replays_stale_and_says_what_it_found(tool):
    lines(tool.folder / "a.jsonl", mixed())
    tool("load", "a.jsonl")
    tool("replay", "--budgets", "300", "--caps", "2", "--primary-cap", "2", "--replicates", "0")
    told = tool("answers", "--answer", "archive")
    assert told.out == "50 of 50 attempts have an answer by archive; 49 had one before\n"
    assert told.err.endswith("The replays are stale; run 'budget-audit replay' again.\n")
    assert "stale" in tool("table", "main", status=2).err
    assert "answers: the archive's own extraction" in tool("table", "data_quality").err


def test_answers_that_cannot_be_read_change_nothing(tool):
    lines(tool.folder / "a.jsonl", bank())
    tool("load", "a.jsonl")
    before = state()
    line = tool("answers", "--answer", "archive", status=2).err
    assert "none of its 24 finished attempts has an answer: --answer archive gives 0, " in line
    assert "--answer boxed gives 24; pass --answer boxed" in line
    told = tool("answers", "--answer", "x", status=2).err
    assert "must be boxed, archive, none or regex:" in told
    assert "parentheses" in tool("answers", "--answer", "regex:x", status=2).err
    tool("answers", "--answer", "boxed", "--db", "other.duckdb", status=2)
    assert state() == before
    told = tool("answers", "--answer", "archive", "--force").err
    assert told.startswith("fail: answered: 'm' 0 of 24: ")


def test_answers_of_texts_need_the_texts(tool):
    lines(tool.folder / "a.jsonl", mixed())
    tool("load", "a.jsonl", "--no-texts")
    line = tool("answers", "--answer", "boxed", status=2).err
    assert "archive 'm' was loaded with --no-texts; load it again with its texts" in line
    tool("answers", "--answer", "archive")
    assert rows_of("select count(answer) from attempts") == [(50,)]


def test_a_second_kind_beside_the_first_is_refused_with_the_way_out(tool):
    lines(tool.folder / "a.jsonl", bank())
    lines(tool.folder / "b.jsonl", [row | {"archive_answer": "1"} for row in bank("n")])
    tool("load", "a.jsonl")
    line = tool("load", "b.jsonl", "--answer", "archive", status=2).err
    assert "budget-audit answers --answer archive" in line


# data_quality


def every_break():
    """Archive m breaks every check of the records once; archive n is clean, and costs little."""
    rows = bank(problems=2, attempts=10)
    long = [LONG + rf"\boxed{{{1 + seed % 2}}}" for seed in range(10)]
    for number, row in enumerate(rows):
        row |= {"text": long[number % 10] + " " * number, "mean_logprob": -0.5}
        row |= {"archive_answer": row["text"][-2 - number], "references": ["1"]}
        row["archive_answer"] = str(1 + row["seed"] % 2)
        row["correct"] = row["seed"] % 2 == 0
    rows[0]["finish_reason"] = "eos"
    rows[1]["text"] = LONG + "no box here"
    rows[2]["archive_answer"] = "9"
    rows[3]["references"] = ["2"]
    rows[4]["correct"] = None
    rows[6]["correct"] = False
    rows[7]["completion_tokens"] = 10**9
    rows[8]["text"] = LONG + r"so \boxed{\text{1}"
    rows[9]["text"] = rows[11]["text"] = rows[13]["text"]
    rows[10]["mean_logprob"] = None
    return rows


def test_data_quality_equals_counts_by_hand_where_every_check_is_broken_once(tool):
    rows = every_break()
    counted = [{k: v for k, v in row.items() if k != "completion_tokens"} for row in rows[:0]]
    same = [
        attempt(q, s, 1, archive="same", completion_tokens=500) for q in range(4) for s in range(5)
    ]
    cut = [
        attempt(0, s, 1, archive="cut", text=rf"\boxed{{1}} {s}" + "x" * (1000 + (s > 0)))
        for s in range(4)
    ]
    lines(tool.folder / "a.jsonl", rows + counted + same + cut)
    tool("load", "a.jsonl", "--unlabelled", "wrong")
    # Of the 20 attempts of m one is not finished; of 19 finished two have no box (1 and 8).
    assert quality() == {
        "finished": (19, 20, "ok"),
        "answered": (17, 19, "warn"),
        "answers_missed": (2, 19, "warn"),
        # Right are eight with an even seed (4 and 6 are not); 0 is unfinished, 8 has no box.
        "right_not_eligible": (2, 8, "fail"),
        "banks_uneven": (0, 2, "ok"),
        "costs_at_a_limit": (0, 19, "ok"),
        "texts_longer_than_costs": (0, 20, "ok"),
        # The 19 with a log-probability have the same one.
        "scores_tell_labels": (0, 41, "ok"),
        "eligibility_tells_labels": (0, 20, "ok"),
        "labels_constant_in_problem": (0, 2, "ok"),
        "duplicate_records": (0, 20, "ok"),
        # Both are there in 18; attempt 2 disagrees, and 9, 11 and 13 have one text with answer 2.
        "answers_disagree": (1, 18, "ok"),
        "unknown_finish_reasons": (1, 20, "warn"),
        "references_differ": (1, 2, "warn"),
        "labels_missing": (1, 20, "warn"),
        "labels_all_equal": (0, 20, "ok"),
        # Answers 1 and 2 of two problems; 4 and 6 are incorrect beside correct ones.
        "labels_in_conflict": (1, 4, "warn"),
        "costs_counted": (0, 20, "ok"),
        "unused_cost_columns": (0, 20, "ok"),
        "repeats_told_apart_by": (0, 20, "ok"),
        "costs_constant": (0, 20, "ok"),
        "costs_extreme": (1, 20, "warn"),
        "texts_cut": (1, 19, "warn"),
        # 11 and 13 are the same text of problem 1; 9 is of problem 0.
        "duplicate_texts": (1, 20, "ok"),
        # Attempt 10 of 17 that can be picked.
        "logprobs_missing": (1, 17, "warn"),
    }
    assert quality(archive="same")["labels_all_equal"] == (20, 20, "warn")
    assert quality(archive="same")["costs_constant"] == (20, 20, "warn")
    # Three of four have the greatest length, above 1,000.
    assert quality(archive="cut")["texts_cut"] == (3, 4, "warn")


def test_counted_costs_are_told(tool):
    rows = [{k: v for k, v in row.items() if k != "completion_tokens"} for row in bank()]
    lines(tool.folder / "a.jsonl", rows)
    told = tool("load", "a.jsonl", "--count-tokens", "o200k_base").err
    assert "warn: costs_counted: 'm' 24 of 24: " in told


@pytest.mark.parametrize("characters", [700, 2000])
def test_reasoning_beside_the_text_that_costs_nothing_is_told(tool, characters):
    rows = [row | {"reasoning_content": "x" * characters} for row in bank()]
    lines(tool.folder / "rows.jsonl", rows)
    is_told = characters > 1000
    assert ("texts_longer_than_costs" in tool("describe", "rows.jsonl").out) == is_told
    assert ("texts_longer_than_costs" in tool("load", "rows.jsonl").err) == is_told
    # Read again from the database, the texts say the same.
    assert ("texts_longer_than_costs" in tool("answers", "--answer", "boxed").err) == is_told


@pytest.mark.slow
def test_replays_that_run_out_of_attempts_are_counted_by_budget_and_cap(tool):
    # Every attempt costs 100: a bank of 4 is spent at 400, one of 8 at 800.
    rows = [
        attempt(q, s, 1 + s % 2, s % 2 == 0, completion_tokens=100)
        for q, size in enumerate((4, 8))
        for s in range(size)
    ]
    lines(tool.folder / "a.jsonl", rows)
    tool("load", "a.jsonl")
    assert "ended_by_bank_300" not in quality()
    settings = ("--caps", "4,8,9", "--primary-cap", "8", "--orders", "5", "--replicates", "0")
    tool("replay", "--budgets", "300,400,500,900", *settings)
    found = quality()
    # Problem 0 runs out below 500 and 900; problem 1 is ended by the cap at 900.
    assert [found[f"ended_by_bank_{budget}"] for budget in (300, 400, 500, 900)] == [
        (0, 10, "ok"),
        (0, 10, "ok"),
        (5, 10, "warn"),
        (5, 10, "warn"),
    ]
    # At 900 each of them ends before the budget, one for want of attempts and one by the cap.
    assert [found[f"never_binds_{budget}"] for budget in (300, 400, 500, 900)] == [
        (0, 10, "ok"),
        (0, 10, "ok"),
        (5, 10, "ok"),
        (10, 10, "warn"),
    ]
    assert [found[f"banks_below_cap_{cap}"] for cap in (4, 8, 9)] == [
        (0, 2, "ok"),
        (1, 2, "warn"),
        (2, 2, "warn"),
    ]
    assert found["problems_without_votes"] == (0, 2, "ok")
    # One line for one cause: at 900 the budget is too large, and the small bank only ended there.
    with database.open_database("audit.duckdb") as con:
        told = [
            " ".join(line.split(": ")[1:3]) for line in find_quality_notes(con, moment="replay")
        ]
        assert told == ["ended_by_bank 'm' 5 of 10 at 500", "never_binds 'm' 10 of 10 at 900"]
        told = [
            line.split(": ")[1]
            for line in find_quality_notes(con, moment="table", budgets={300, 500})
        ]
        assert told == ["ended_by_bank"]
        assert not any("ended" in line or "binds" in line for line in find_quality_notes(con))
    # A table warns of the budgets in the rows that are asked for.
    some = audit.table("audit.duckdb", "main", where="budget <= 400", columns=["delta"])
    assert not any("ended_by_bank" in note or "never_binds" in note for note in some.notes)
    tool("load", "a.jsonl", "--replace")
    assert not any(check.startswith(("ended", "banks_b", "problems")) for check in quality())


def test_a_primary_selector_that_can_pick_nothing_fails(tool):
    lines(tool.folder / "a.jsonl", bank())
    tool("load", "a.jsonl")
    settings = ("--caps", "8", "--primary-cap", "8", "--orders", "1", "--replicates", "0")
    asked = ("replay", "--budgets", "300", *settings, "--primary-selector")
    line = tool(*asked, "max_logprob", status=2).err
    assert "it can pick nothing in any problem; choose one that can: majority" in line
    # Where no selector can pick anything, the replay says so.
    lines(tool.folder / "a.jsonl", [row | {"text": "no box"} for row in bank()])
    tool("load", "a.jsonl", "--replace", "--force")
    tool(*asked, "majority")
    assert quality()["problems_without_votes"] == (3, 3, "fail")
    with database.connect("audit.duckdb", read_only=True) as con:
        assert any(
            note.startswith("fail: problems_without_votes: 'm' 3 of 3: ")
            for note in find_quality_notes(con)
        )


def test_notes_name_a_few_archives_and_count_the_others(tool):
    rows = [row | {"correct": None} for name in "abcde" for row in bank(name, problems=1)]
    lines(tool.folder / "a.jsonl", rows)
    (line,) = tool("load", "a.jsonl").err.splitlines()
    assert "labels_missing: 'a' 8 of 8, 'b' 8 of 8, 'c' 8 of 8 and 2 more: " in line
    # Told once: a table repeats what fails, and nothing else.
    tool("replay", "--replicates", "0", "--orders", "0")
    assert "labels_missing" not in tool("table", "pools").err
    assert quality(archive="a")["labels_missing"] == (8, 8, "warn")


def test_lines_of_a_filtered_replay_say_what_they_cover(tool):
    rows = [row | {"text": "no box"} for row in bank(problems=2)] + bank("n", problems=2)
    lines(tool.folder / "a.jsonl", rows)
    tool("load", "a.jsonl", "--force")
    asked = ("replay", "--replicates", "0", "--orders", "0", "--budgets", "300")
    assert "fail: answered: 'm' 0 of 16: " in tool(*asked).err
    told = tool(*asked, "--archive", "m").err
    assert "fail: answered: 'm' 0 of 16 (in the 2 of 4 problems replayed): " in told
    assert "answered" not in tool(*asked, "--archive", "n").err


def test_every_check_has_its_thresholds_and_every_threshold_its_check(tool):
    folder = engine.find_folder("sql") / "quality"
    checks = {path.stem for path in folder.glob("*/*.sql")} | {"problems_dropped"}
    with duckdb.connect() as con:
        judged = con.execute(engine.render("thresholds")).fetchall()
    assert {row[0] for row in judged} == checks and len(judged) == len(checks)


# Elsewhere


@pytest.mark.parametrize("command", ["load a.jsonl", "replay", "answers --answer boxed", "check"])
def test_a_database_in_memory_is_refused(tool, command):
    lines(tool.folder / "a.jsonl", bank())
    line = tool(*command.split(), "--db", ":memory:", status=2).err
    assert ":memory:" in line


def test_rows_that_went_in_are_let_go_before_the_transaction_ends():
    with duckdb.connect() as con:
        con.execute("begin")
        con.execute("create table numbers (number bigint)")
        before = pa.total_allocated_bytes()
        for _ in range(5):
            insert(con, "insert into numbers", pa.table({"number": pa.array(range(100_000))}))
        assert pa.total_allocated_bytes() - before < 800_000
        assert con.execute("select count(*) from numbers").fetchall() == [(500_000,)]
