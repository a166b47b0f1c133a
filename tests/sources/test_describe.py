"""`describe`: a verdict, the command, a record and counts under it; nothing is written."""

import json
import shlex

import pytest

from audit.errors import AuditError
from audit.load.describe import LINES, describe
from tests.support.command import said as run
from tests.support.logs import FORMATS


def lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


ROW = {"archive": "a", "competition": "c", "question_id": 0, "completion_tokens": 5}


def test_counts_are_those_of_a_load(tmp_path):
    records = [
        {"finish_reason": "stop", "text": r"\boxed{1}", "correct": True},
        {"finish_reason": "stop", "text": r"\boxed{2}", "correct": False},
        {"finish_reason": "length", "text": "…", "correct": False},
        {"finish_reason": "eos", "text": r"\boxed{}", "correct": False, "note": 7},
    ]
    path = lines(tmp_path / "a.jsonl", [ROW | r | {"seed": at} for at, r in enumerate(records)])
    told = describe([path]).splitlines()
    assert told[:2] == ["this loads", f"  budget-audit load {path}"]
    assert "  4 attempts: 1 archive, 1 problem, 4 attempts each" in told
    assert "  finished 2 (50 %), answered 2 (50 %), right 1 (25 %)" in told
    assert "  unused              note" in describe([path], all=True).splitlines()


def test_finish_reasons_and_answers_of_another_kind_are_in_the_command(tmp_path):
    row = ROW | {"finish_reason": "end_turn", "text": "ANSWER: 7", "correct": True, "pred": "7"}
    path = lines(tmp_path / "a.jsonl", [row | {"seed": at} for at in range(3)])
    told = describe([path]).splitlines()
    assert "  guessed: end_turn counted as finished" in told
    command = shlex.split(told[1])
    assert command[3:7] == ["--finished", "end_turn", "--answer", "archive"]
    run(tmp_path, *command[1:])


def test_labels_in_part_are_asked_about_in_the_verdict(tmp_path):
    row = ROW | {"finish_reason": "stop", "text": r"\boxed{1}"}
    records = [row | {"seed": at, "correct": [True, None, False][at]} for at in range(3)]
    told = describe([lines(tmp_path / "a.jsonl", records)])
    assert told.startswith("this does not load, because archive 'a': 1 of its 3 attempts have no")
    assert "--unlabelled wrong" in told and "budget-audit load" not in told


def test_all_shows_what_could_be_a_missing_column(tmp_path):
    path = lines(tmp_path / "a.jsonl", [
        {"model": "m", "dataset": "d", "number_id": at, "body": "long enough text " * at,
         "reply_len": 7 + at, "other_len": 8 + at} for at in range(2)
    ])  # fmt: skip
    told = describe([path])
    assert told.startswith("this does not load, because no token counts: attempts have no cost")
    assert "no text, box or extracted answer: attempts answer nothing" in told
    assert "budget-audit load" not in told
    assert "    could be: --map completion_tokens=reply_len" in describe([path], all=True)


def test_no_more_than_twenty_lines_of_a_terminals_width(tmp_path):
    row = {"model": "m" * 300, "dataset": "d" * 300, "problem_id": "p" * 300, "reply" * 60: "x"}
    row |= {f"column_{at}": at for at in range(300)}
    path = lines(tmp_path / "a.jsonl", [
        row | {"sample": at, "response": "word " * 500 + "answer: 7", "ok": at == 1}
        for at in range(4)
    ])  # fmt: skip
    told = describe([path]).splitlines()
    assert len(told) <= LINES
    assert max(len(line) for line in told if not line.startswith("  budget-audit")) <= 100


def test_a_log_that_needs_nothing_gets_its_command_too():
    path = str(FORMATS / "inspect_zstd.eval")
    told = describe([path]).splitlines()
    assert told[:2] == ["this loads", f"  budget-audit load {path}"]


def test_references_come_from_any_file_also_for_csv(tmp_path):
    (tmp_path / "a.csv").write_text(
        "problem_id,attempt,response,num_tokens,finish_reason\n"
        + "".join(f"p{p},{k},\\boxed{{{k}}},9,stop\n" for p in range(2) for k in range(2))
    )
    (tmp_path / "r.csv").write_text("problem,answer\np0,0\np1,1\n")
    options = ["--archive", "m", "--competition", "c", "--references", "r.csv"]
    told = run(tmp_path, "describe", "a.csv", *options, "--grade", "references").splitlines()
    assert told[0] == "this loads" and "right 2 (50 %)" in "\n".join(told)
    run(tmp_path, *shlex.split(told[1])[1:])


def test_two_columns_that_say_different_things_are_asked_about(tmp_path):
    row = ROW | {"finish_reason": "stop", "response": "a", "completion": "b", "seed": 1}
    told = describe([lines(tmp_path / "a.jsonl", [row])])
    assert told.startswith("this does not load, because a.jsonl: text may be response or")
    with pytest.raises(AuditError, match="no such format"):
        describe([str(tmp_path / "a.jsonl")], format="xml")


def test_reasoning_that_is_counted_apart_is_said_with_the_option(tmp_path):
    row = ROW | {"finish_reason": "stop", "text": r"\boxed{1}", "correct": True}
    row |= {"prompt_tokens": 5, "completion_tokens": 30, "thinking_tokens": 40}
    path = lines(tmp_path / "a.jsonl", [row | {"seed": at} for at in range(3)])
    told = describe([path]).splitlines()
    (warned,) = [line for line in told if "reasoning_not_counted" in line]
    assert warned.endswith(": --map completion_tokens=completion_tokens+thinking_tokens")
