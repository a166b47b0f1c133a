"""`describe`: a verdict, the command, a record and counts under it; nothing is written."""

import json
import shlex

import pytest

from audit.errors import AuditError
from audit.load.describe import LINES, describe
from tests.support.command import run_inside as run
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
    assert told[:2] == ["loads", f"  budget-audit load {path}"]
    assert "  4 attempts: 1 archive, 1 problem, 4 attempts each" in told
    assert "  finished 2 (50 %), answered 2 (50 %), right 1 (25 %)" in told
    assert "  unused              note" in describe([path], all=True).splitlines()


def test_finish_reasons_are_asked_about_and_a_limit_is_never_one(tmp_path):
    row = ROW | {"text": "ANSWER: 7", "prediction": "7"}
    reasons = ["end_turn", "end_turn", "message limit", "max_turns"]
    path = lines(tmp_path / "a.jsonl", [
        row | {"seed": at, "finish_reason": reason, "correct": at == 0}
        for at, reason in enumerate(reasons)
    ])  # fmt: skip
    told = describe([path])
    assert told.startswith("does not load yet: no attempt ended with 'stop'")
    assert "'end_turn' (2 attempts)" in told and "message limit" not in told
    assert shlex.split(told.splitlines()[-1])[3:] == ["--finished", "???"]
    told = describe([path], finished="end_turn").splitlines()
    assert told[0] == "loads"
    assert shlex.split(told[1])[3:] == ["--finished", "end_turn", "--answer", "archive"]


def test_labels_in_part_are_asked_about_in_the_verdict(tmp_path):
    row = ROW | {"finish_reason": "stop", "text": r"\boxed{1}"}
    records = [row | {"seed": at, "correct": [True, None, False][at]} for at in range(3)]
    told = describe([lines(tmp_path / "a.jsonl", records)])
    assert told.startswith("does not load yet: what becomes of attempts without a label?")
    assert "1 of its 3 attempts have no label" in told
    assert told.splitlines()[-1].endswith("a.jsonl --unlabelled '???'")


def test_a_missing_cost_is_asked_about_with_what_could_be_it(tmp_path):
    path = lines(tmp_path / "a.jsonl", [
        {"model": "m", "dataset": "d", "problem_id": at, "response": "long enough text " * at,
         "usage": {"reply": 7 + at, "asked": 3 + at}, "correct": True} for at in range(2)
    ])  # fmt: skip
    told = describe([path])
    assert told.startswith("does not load yet: which column is what an attempt cost")
    assert "usage.reply (2 values: 7, 8), each in one row" in told
    assert "or count the tokens of the texts: --count-tokens o200k_base" in told
    assert "--map 'completion_tokens=???'" in told


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
    assert told[:2] == ["loads", f"  budget-audit load {path}"]


def test_references_come_from_any_file_also_for_csv(tmp_path):
    (tmp_path / "a.csv").write_text(
        "problem_id,attempt,response,num_tokens,finish_reason\n"
        + "".join(f"p{p},{k},\\boxed{{{k}}},9,stop\n" for p in range(2) for k in range(2))
    )
    (tmp_path / "r.csv").write_text("problem,answer\np0,0\np1,1\n")
    options = ["--archive", "m", "--competition", "c", "--references", "r.csv"]
    told = run(tmp_path, "describe", "a.csv", *options, "--grade", "references").splitlines()
    assert told[0] == "loads" and "right 2 (50 %)" in "\n".join(told)
    run(tmp_path, *shlex.split(told[1])[1:])


def test_two_columns_that_say_different_things_are_asked_about(tmp_path):
    row = ROW | {"finish_reason": "stop", "response": "a", "completion": "b", "seed": 1}
    told = describe([lines(tmp_path / "a.jsonl", [row])])
    assert told.startswith("does not load yet: a.jsonl: text may be response or")
    with pytest.raises(AuditError, match="no such format"):
        describe([str(tmp_path / "a.jsonl")], format="xml")


def test_reasoning_that_is_counted_apart_is_said_with_the_option(tmp_path):
    row = ROW | {"finish_reason": "stop", "text": r"\boxed{1}", "correct": True}
    row |= {"prompt_tokens": 5, "completion_tokens": 30, "thinking_tokens": 40}
    path = lines(tmp_path / "a.jsonl", [row | {"seed": at} for at in range(3)])
    told = describe([path]).splitlines()
    (warned,) = [line for line in told if "reasoning_not_counted" in line]
    assert warned.endswith(": --map completion_tokens=completion_tokens+thinking_tokens")


def test_a_file_is_opened_twice_at_most(tmp_path, monkeypatch):
    row = ROW | {"finish_reason": "done", "text": "ANSWER: 7", "prediction": "7", "correct": True}
    path = lines(tmp_path / "a.jsonl", [row | {"seed": at, "arm": at % 2} for at in range(6)])
    opened, plain = [], open

    def counted(file, *rest, **more):
        opened.append(str(file))
        return plain(file, *rest, **more)

    monkeypatch.setattr("builtins.open", counted)
    assert describe([path]).startswith("does not load yet: no attempt ended with 'stop'")
    assert 0 < opened.count(path) <= 2
