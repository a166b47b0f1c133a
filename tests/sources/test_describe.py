"""`describe` counts what is there, names what is missing, and gives the command that loads it."""

import csv
import json
import shlex

import duckdb
import pytest

from audit.load.describe import describe
from tests.support.command import run
from tests.support.logs import FORMATS

TEXTS = [
    [r"so the sum is \boxed{4}", "and then nothing"],
    [r"thus it is \boxed{9}", r"hence we have \boxed{10}"],
]
LABELS = [[True, False], [False, True]]
# By hand: problem, slot, answer, label.
BY_HAND = [(0, 0, "4", True), (0, 1, None, False), (1, 0, "9", False), (1, 1, "10", True)]


def lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def responses(folder):
    """One row per problem: response, pred and score in parallel."""
    lines(folder / "dump.jsonl", [
        {"question": f"What is {at}?", "response": TEXTS[at], "pred": ["1", None],
         "score": LABELS[at], "answer": "4"} for at in range(2)
    ])  # fmt: skip


def thoughts(folder):
    """A whole-file array with ys and infos."""
    (folder / "dump.json").write_text(json.dumps([
        {"idx": 900 + at, "steps": [{"values": [1, 2]}] * 3, "ys": TEXTS[at],
         "infos": [{"r": int(label)} for label in LABELS[at]], "usage_so_far": {"cost": 0.1}}
        for at in range(2)
    ], indent=4))  # fmt: skip


def files(folder):
    """One CSV per problem, whose number is only in the file's name."""
    (folder / "dump").mkdir()
    for at in range(2):
        with open(folder / "dump" / f"problem_{at}.csv", "w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["reply", "ok"])
            writer.writerows(zip(TEXTS[at], map(int, LABELS[at]), strict=True))


def places(folder):
    """Rows whose problem is the row's place."""
    lines(folder / "dump.jsonl", [
        {"candidates": [{"y": text, "right": label}
                        for text, label in zip(TEXTS[at], LABELS[at], strict=True)]}
        for at in range(2)
    ])  # fmt: skip


def columns(folder):
    """An object of arrays."""
    (folder / "dump.json").write_text(json.dumps(
        {"problem": ["p0", "p1"], "generations": TEXTS, "is_correct": LABELS}
    ))  # fmt: skip


def rows(folder):
    """An attempt per row under names of one's own, answers after a word."""
    texts = [["ANSWER: 4", "no idea at all"], ["ANSWER: 9", "ANSWER: 10"]]
    lines(folder / "dump.jsonl", [
        {"problem_no": f"p{at}", "llm_reply": texts[at][k], "tok": 5 + k, "right": LABELS[at][k]}
        for at in range(2) for k in range(2)
    ])  # fmt: skip


@pytest.mark.parametrize("make", [responses, thoughts, files, places, columns, rows])
def test_the_proposed_command_loads_a_published_dump(tmp_path, make):
    make(tmp_path)
    (name,) = [path.name for path in tmp_path.iterdir()]
    told = run(tmp_path, "describe", name).splitlines()
    assert "  load it with" in told, "\n".join(told)
    command = shlex.split(told[told.index("  load it with") + 1])
    assert command[:3] == ["budget-audit", "load", name]
    run(tmp_path, *command[1:])
    with duckdb.connect(str(tmp_path / "audit.duckdb"), read_only=True) as con:
        found = con.execute(
            """
            select dense_rank() over (order by question_id) - 1, slot, answer, correct
            from attempts inner join labels using (archive, competition, question_id, seed)
            order by question_id, slot
            """
        ).fetchall()
        assert found == BY_HAND
        assert con.execute("select min(completion_tokens) from attempts").fetchone()[0] > 1


def test_describe_counts_what_a_load_would_find(tmp_path):
    row = {"archive": "a", "competition": "c", "question_id": 0, "completion_tokens": 5}
    records = [
        {"finish_reason": "stop", "text": r"\boxed{1}", "archive_answer": "01", "correct": True,
         "references": ["1"]},
        {"finish_reason": "stop", "text": r"\boxed{2}", "archive_answer": "3", "correct": False,
         "references": []},
        {"finish_reason": "length", "text": "…", "archive_answer": "3", "correct": None,
         "references": ["1"]},
        {"finish_reason": "eos", "text": r"\boxed{}", "archive_answer": None, "correct": None,
         "references": None, "note": 7},
    ]  # fmt: skip
    lines(tmp_path / "a.jsonl", [row | r | {"seed": at} for at, r in enumerate(records)])
    told = describe([str(tmp_path / "a.jsonl")]).splitlines()
    for line in (
        "  finished      stop 2, length 1, eos 1",
        "    finished              2 of 4",
        "    answered by box       2 of 4",
        "    answered by the log   3 of 4",
        "    agreeing              1 of 4",
        "    labelled              2 of 4",
        "    with references       2 of 4",
        "  unused        note",
    ):
        assert line in told
    assert told[-1] == f"    budget-audit load {tmp_path}/a.jsonl"


def test_describe_names_the_options_for_finish_reasons_and_answers_of_another_kind(tmp_path):
    row = {"archive": "a", "competition": "c", "question_id": 0, "completion_tokens": 5}
    row |= {"finish_reason": "end_turn", "text": "ANSWER: 7", "correct": True, "pred": "7"}
    lines(tmp_path / "a.jsonl", [row | {"seed": at} for at in range(3)])
    told = describe([str(tmp_path / "a.jsonl")])
    assert "note: no attempt counts as finished; pass --finished end_turn" in told
    assert (
        r"note: no text has a box; pass --answer archive or --answer 'regex:ANSWER:\s*(.+)'" in told
    )
    command = shlex.split(told.splitlines()[-1])
    assert command[-4:] == ["--answer", "archive", "--finished", "end_turn"]
    run(tmp_path, *command[1:])


def test_candidates_for_a_missing_column_are_ready_options(tmp_path):
    lines(tmp_path / "a.jsonl", [
        {"model": "m", "dataset": "d", "number_id": at, "try_id": at, "reply": "long enough text",
         "reply_len": 7, "other_len": 8, "verdict": True, "sum_logprob": -1.5}
        for at in range(2)
    ])  # fmt: skip
    told = describe([str(tmp_path / "a.jsonl")])
    for option in (
        "question_id=number_id",
        "question_id=try_id",
        "completion_tokens=reply_len",
        "completion_tokens=other_len",
        "correct=verdict",
        "mean_logprob=sum_logprob",
    ):
        assert f"could be: --map {option}\n" in told
    # Two columns could be the problem: nothing is plain.
    assert "load it with" not in told


def test_a_log_that_needs_nothing_gets_its_command_too():
    path = str(FORMATS / "inspect_zstd.eval")
    assert describe([path]).splitlines()[-1] == shlex.join(["    budget-audit load", path]).replace(
        "'", ""
    )
