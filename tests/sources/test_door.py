"""The door: shapes that people have. What `describe` prints loads right, and all else is asked.

Each shape is a small file or folder that we made in the shape of a public one. Where `describe`
says that it loads, its command is run, and what it loads is compared with what was written.
"""

import csv
import json
import shlex
import zipfile

import duckdb
import pytest

from audit.load.describe import describe
from tests.support.command import read_streams
from tests.support.logs import FORMATS, lines

# Three problems of two attempts: what each says, whether it is right.
ANSWERS = [["4", "5"], ["9", "10"], ["1", "1"]]
GOLD = ["4", "10", "1"]
LONG = "First we look at the numbers, then we add them up one by one, and so we find "
TEXTS = [[f"{LONG}\\boxed{{{a}}}" for a in row] for row in ANSWERS]
RIGHT = [[a == gold for a in row] for row, gold in zip(ANSWERS, GOLD, strict=True)]
# Attempts, archives, problems, attempts each, finished, answered, labelled, right.
PLAIN = (6, 1, 3, 2, 6, 6, 6, 4)
EACH = [(p, k) for p in range(3) for k in range(2)]


def rows(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as stream:
        writer = csv.DictWriter(stream, list(records[0]))
        writer.writeheader()
        writer.writerows(records)


SHAPES = {}


def shape(expected):
    """A builder of a source in a folder, with what a load of it holds or why there is none."""

    def add(build):
        SHAPES[build.__name__] = (build, expected)
        return build

    return add


COUNTS = """
select
    count(*), count(distinct archive), count(distinct (competition, question_id)),
    count(*) / count(distinct (archive, competition, question_id)),
    count(*) filter (finish_reason = 'stop'), count(answer),
    count(correct), count(*) filter (correct)
from attempts inner join labels using (archive, competition, question_id, seed)
"""


def counts(folder):
    """What a database holds, as PLAIN lists it."""
    with duckdb.connect(str(folder / "audit.duckdb"), read_only=True) as con:
        return con.execute(COUNTS).fetchall()[0]


# What decides a number is asked about, never guessed


def ask(*expected):
    """Return what a question says and the option with its hole."""
    return ("does not load yet:", *expected)


def run_rows(**more):
    """Return rows of a run table: two models, three tasks, two trials, one of which failed."""
    return [
        {"modelKey": model, "taskId": f"t{p}", "Trial": k, "tokensOut": 30 + 10 * p + k,
         "input_tokens": 9, "cost_usd": 0.01 * (k + 1), "duration_ms": 1500 + k,
         "outcome": "passed" if RIGHT[p][k] else "failed", "error": None if k or p else "x"}
        | {name: values[k] for name, values in more.items()}
        for model in "mn" for p, k in EACH
    ]  # fmt: skip


@shape((12, 2, 3, 2, 10, 0, 12, 8))
def a_run_table(folder):
    rows = [row for row in run_rows() if row.pop("error", "") is not None or True]
    lines(folder / "runs.jsonl", [
        row | {"error": "x" if row["outcome"] == "failed" and row["taskId"] == "t0" else None}
        for row in rows
    ])  # fmt: skip


@shape(ask("is strategy the archive, or a part of it?", "strategy (2 values: cot, pal)"))
def arms_that_no_column_separates(folder):
    lines(folder / "runs.jsonl", [
        {"model": "m", "task": f"t{p}", "strategy": arm, "output_tokens": 30 + p, "error": None,
         "passed": (p + at) % 2 == 0} for p in range(4) for at, arm in enumerate(["cot", "pal"])
    ])  # fmt: skip


@shape(ask("attempts repeat under one number", "differs: strategy (2 values: cot, pal)"))
def arms_that_repeat_the_numbers_of_attempts(folder):
    lines(folder / "runs.jsonl", [
        {"model": "m", "task": f"t{p}", "run": 0, "strategy": arm, "output_tokens": 30 + p,
         "passed": (p + at) % 2 == 0} for p in range(4) for at, arm in enumerate(["cot", "pal"])
    ])  # fmt: skip


@shape(ask("each problem has one label for all its attempts"))
def labels_of_problems(folder):
    lines(folder / "runs.jsonl", [
        {"problem_id": p, "attempt": k, "response": TEXTS[p][k], "output_tokens": 30 + p + k,
         "correct": p == 0} for p, k in EACH
    ])  # fmt: skip


@shape(ask("the log's own answer is one for all attempts at a problem"))
def answers_of_problems(folder):
    lines(folder / "runs.jsonl", [
        {"problem_id": p, "attempt": k, "response": LONG, "output_tokens": 30 + p + k,
         "prediction": GOLD[p]} for p, k in EACH
    ])  # fmt: skip


@shape(ask("problems repeat for each temperature"))
def temperatures_are_archives(folder):
    lines(folder / "runs.jsonl", [
        {"model": "m", "task": p, "run": 2 * p + k, "temperature": 0.5 * k, "error": None,
         "output_tokens": 30 + p + k, "passed": RIGHT[p][k]} for p, k in EACH
    ])  # fmt: skip


def run_of(model, p, k, **more):
    """Return one row of a run table of one model."""
    return {"model": model, "task": f"t{p}", "trial": k, "output_tokens": 30 + p + k,
            "passed": RIGHT[p][k % 2], "error": None} | more  # fmt: skip


@shape(ask("question_id may be key or task", "differs: key (2 values: gpt, llama)"))
def groups_by_model(folder):
    groups = {model: [run_of("m", p, k) for p, k in EACH] for model in ("gpt", "llama")}
    (folder / "runs.json").write_text(json.dumps(groups))


@shape(ask("problems repeat for each prompt_version"))
def versions_that_no_column_separates(folder):
    lines(folder / "runs.jsonl", [
        run_of("m", p, k + 2 * at, prompt_version=at) for p, k in EACH for at in range(2)
    ])  # fmt: skip


@shape(ask("which column is the label (correct)?", "score (2 values: 0, 100)"))
def a_score_in_percent(folder):
    rows = [run_of("m", p, k, score=100 * RIGHT[p][k]) for p, k in EACH]
    lines(folder / "runs.jsonl", [{n: v for n, v in r.items() if n != "passed"} for r in rows])


@shape(ask("how an attempt ended (finish_reason)?", "timed_out (2 values: false, true)"))
def a_flag_of_timeouts(folder):
    rows = [run_of("m", p, k, timed_out=p == k) for p, k in EACH]
    lines(folder / "runs.jsonl", [{n: v for n, v in r.items() if n != "error"} for r in rows])


@shape(ask("how an attempt ended (finish_reason)?", "status (2 values", "error (null throughout)"))
def a_status_beside_no_error(folder):
    rows = [run_of("m", p, k, status=["done", "timeout"][p == k]) for p, k in EACH]
    lines(folder / "runs.jsonl", rows)


@shape(ask("which column is the problem (question_id)?", "task (1 value: math)", "example_id"))
def a_task_that_all_rows_share(folder):
    lines(folder / "runs.jsonl", [run_of("m", 0, k, task="math", example_id=p) for p, k in EACH])


@shape(ask("money may be total_cost or cost", "--map 'money=???'"))
def two_costs_in_money(folder):
    lines(folder / "runs.jsonl", [run_of("m", p, k, total_cost=2, cost=1) for p, k in EACH])


@shape((3, 1, 3, 1, 3, 0, 3, 2))
def tasks_in_an_object_beside_sums(folder):
    tasks = {f"t{p}": {"resolved": RIGHT[p][0], "output_tokens": 30 + p} for p in range(3)}
    (folder / "runs.json").write_text(json.dumps({"run": {"id": 1}, "cost": 9, "tasks": tasks}))


@shape((6, 1, 3, 2, 6, 0, 6, 4))
def samples_beside_the_header_of_their_log(folder):
    log = folder / "log"
    log.mkdir()
    (log / "header.json").write_text(json.dumps({"eval": {"model": "m", "task": "t"}}))
    (log / "summaries.json").write_text(json.dumps([
        {"id": p, "epoch": k + 1, "scores": {"s": {"value": "C" if RIGHT[p][k] else "I"}},
         "model_usage": {"m": {"input_tokens": 9, "output_tokens": 30}}} for p, k in EACH
    ]))  # fmt: skip


@shape(ask("tokens (6 values from 30 to 41)", "cost_tok (6 values", "completion_tokens=???"))
def costs_of_unknown_names(folder):
    lines(folder / "runs.jsonl", [
        {"problem_id": p, "attempt": k, "response": TEXTS[p][k], "correct": RIGHT[p][k],
         "tokens": 30 + 5 * p + k, "cost_tok": 90 + 5 * p + k} for p, k in EACH
    ])  # fmt: skip


@shape(ask("what becomes of attempts without a cost (0 or null)?", "--failed '???'"))
def a_cost_of_0_beside_a_text(folder):
    lines(folder / "runs.jsonl", [
        {"problem_id": p, "attempt": k, "response": TEXTS[p][k], "correct": RIGHT[p][k],
         "output_tokens": 30 * (p + k)} for p, k in EACH
    ])  # fmt: skip


@shape(ask("which column is the label (correct)?", "reward (2 values: 0, 1)", "correct=???"))
def a_reward_that_may_be_the_label(folder):
    lines(folder / "runs.jsonl", [
        {"problem_id": p, "attempt": k, "response": TEXTS[p][k], "reward": int(RIGHT[p][k]),
         "output_tokens": 30 + k} for p, k in EACH
    ])  # fmt: skip


@shape(ask("which column is the problem (question_id)?", "puzzle_no (3 values", "2 rows each"))
def problems_of_an_unknown_name(folder):
    lines(folder / "runs.jsonl", [
        {"puzzle_no": p, "attempt": k, "response": TEXTS[p][k], "correct": RIGHT[p][k],
         "output_tokens": 30 + k} for p, k in EACH
    ])  # fmt: skip


@shape(ask("which column is the number of an attempt (seed)?", "@row (the order of the rows, 2"))
def attempts_without_a_number(folder):
    lines(folder / "runs.jsonl", [
        {"problem_id": p, "response": TEXTS[p][k], "correct": RIGHT[p][k], "output_tokens": 30 + k}
        for p, k in EACH
    ])  # fmt: skip


@shape(ask("how an attempt ended (finish_reason)?", "exit_status (2 values: done, timeout)"))
def endings_of_an_unknown_name(folder):
    lines(folder / "runs.jsonl", [
        {"problem_id": p, "attempt": k, "response": TEXTS[p][k], "correct": RIGHT[p][k],
         "output_tokens": 30 + k, "exit_status": ["done", "timeout"][k]} for p, k in EACH
    ])  # fmt: skip


@shape(ask("which column is the archive", "@file (2 files)", "--map 'archive=???'"))
def models_or_runs_in_two_files(folder):
    for name in ("gpt-4", "run_2"):
        lines(folder / "out" / f"{name}.jsonl", [
            {"problem_id": p, "sample_index": k, "response": TEXTS[p][k], "is_correct": RIGHT[p][k],
             "output_tokens": 30 + k} for p, k in EACH
        ])  # fmt: skip


@shape(PLAIN)
def columns_that_are_null_or_of_another_kind(folder):
    lines(folder / "runs.jsonl", [
        {"problem_id": p, "seed": None, "trial": k, "steps": 5, "finish_reason": None,
         "response": TEXTS[p][k], "correct": RIGHT[p][k], "output_tokens": 30 + k} for p, k in EACH
    ])  # fmt: skip


@shape(ask("no answer matches the references"))
def references_that_no_answer_is_like(folder):
    lines(folder / "runs.jsonl", [
        {"problem_id": p, "attempt": k, "response": TEXTS[p][k], "output_tokens": 30 + k,
         "reference": "a whole solution"} for p, k in EACH
    ])  # fmt: skip


# OpenAI


@shape(PLAIN)
def chat_completions_with_fields_of_their_own(folder):
    lines(folder / "chat.jsonl", [
        {"problem_id": p, "attempt": k, "is_correct": RIGHT[p][k], "response": {
            "id": "chatcmpl-1", "object": "chat.completion", "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop",
                         "message": {"role": "assistant", "content": TEXTS[p][k]}}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 30 + k}}} for p, k in EACH
    ])  # fmt: skip


@shape(PLAIN)
def chat_completions_with_fields_beside(folder):
    lines(folder / "chat.jsonl", [
        {"question_id": f"q{p}", "sample": k, "correct": RIGHT[p][k], "id": "chatcmpl-1",
         "object": "chat.completion", "model": "m",
         "choices": [{"index": 0, "finish_reason": "stop",
                      "message": {"role": "assistant", "content": TEXTS[p][k]}}],
         "usage": {"prompt_tokens": 9, "completion_tokens": 30 + k}} for p, k in EACH
    ])  # fmt: skip


# Containers


def plain_lines():
    return "".join(
        json.dumps({"problem_id": p, "attempt": k, "response": TEXTS[p][k],
                    "correct": RIGHT[p][k]}) + "\n" for p, k in EACH
    )  # fmt: skip


@shape(PLAIN)
def a_zip_of_one_file(folder):
    with zipfile.ZipFile(folder / "dump.jsonl.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("dump.jsonl", plain_lines())


@shape("is a zip archive of 2 files: unpack it")
def a_zip_of_several_files(folder):
    with zipfile.ZipFile(folder / "dump.zip", "w") as archive:
        archive.writestr("a.jsonl", plain_lines())
        archive.writestr("b.jsonl", plain_lines())


@shape("is an Excel workbook: save the sheet as CSV")
def a_workbook(folder):
    with zipfile.ZipFile(folder / "dump.xlsx", "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")


@shape("is a NumPy archive")
def a_numpy_archive(folder):
    with zipfile.ZipFile(folder / "dump.npz", "w") as archive:
        archive.writestr("texts.npy", b"\x93NUMPY")


@shape(PLAIN)
def objects_over_several_lines(folder):
    (folder / "dump.jsonl").write_text("".join(
        json.dumps(json.loads(line), indent=2) + "\n" for line in plain_lines().splitlines()
    ))  # fmt: skip


@shape(PLAIN)
def a_table_in_rows(folder):
    records = [json.loads(line) for line in plain_lines().splitlines()]
    (folder / "table.json").write_text(json.dumps(
        {"columns": list(records[0]), "data": [list(record.values()) for record in records]}
    ))  # fmt: skip


@shape(PLAIN)
def a_table_in_numbered_columns(folder):
    records = [json.loads(line) for line in plain_lines().splitlines()]
    (folder / "table.json").write_text(json.dumps(
        {name: {str(at): record[name] for at, record in enumerate(records)} for name in records[0]}
    ))  # fmt: skip


@pytest.mark.parametrize("mark", ["\t", ";"])
def test_tables_with_other_marks_between_cells_are_read(tmp_path, mark):
    records = [json.loads(line) for line in plain_lines().splitlines()]
    with open(tmp_path / "table.tsv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, list(records[0]), delimiter=mark)
        writer.writeheader()
        writer.writerows(records)
    command = shlex.split(read_streams(tmp_path, "describe", "table.tsv")[0].splitlines()[1])
    read_streams(tmp_path, *command[1:])
    assert counts(tmp_path) == PLAIN


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.npy", b"\x93NUMPY\x01\x00", "is a NumPy array"),
        ("a.pkl", b"\x80\x04\x95", "is a Python pickle"),
        ("a.arrow", b"\xff\xff\xff\xff\x78", "is an Arrow stream"),
        ("a.db", b"SQLite format 3\x00", "is an SQLite database"),
        ("a.jsonl.zst", b"\x28\xb5\x2f\xfd\x00", "is compressed with zstd"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16"), "is UTF-16"),
        ("a.tar", b"a.json".ljust(257, b"\0") + b"ustar\x0000" + b"\0" * 248, "is a tar archive"),
        ("a.json", b'[["a", "b"], ["c"]]', "must be an object, found ['a', 'b']"),
        ("a.yaml", b"prompt: hi\n- a\n", "holds neither JSON, nor CSV, nor Parquet"),
        ("a.json", b'{"resolved_ids": ["a"], "total": 1}', "give it as --labels FILE"),
    ],
)
def test_what_holds_no_records_is_named(tmp_path, name, content, expected):
    (tmp_path / name).write_bytes(content)
    assert expected in refusal(tmp_path, name)


@pytest.mark.parametrize("name", SHAPES)
def test_what_describe_prints_loads_with_the_right_numbers_or_asks(tmp_path, name):
    build, expected = SHAPES[name]
    build(tmp_path)
    (source,) = [path for path in tmp_path.iterdir() if not path.name.startswith("results_")]
    if isinstance(expected, str):
        assert expected in refusal(tmp_path, source.name)
        return
    shown = describe([str(source)])
    if isinstance(expected[0], str):
        missing = [words for words in expected if words not in shown]
        assert shown.startswith(expected[0]) and not missing, shown
        assert "budget-audit load" in shown
        return
    assert len(shown.splitlines()) <= 20, shown
    assert shown.startswith("loads"), shown
    read_streams(tmp_path, *shlex.split(shown.splitlines()[1])[1:])
    assert counts(tmp_path) == expected, shown


def test_a_duplicate_names_the_column_that_differs(tmp_path):
    arms_that_repeat_the_numbers_of_attempts(tmp_path)
    options = ["--competition", "c", "--answer", "none", "--finish-reason", "stop"]
    _, error = read_streams(tmp_path, "load", "runs.jsonl", *options, status=2)
    assert error.endswith("an attempt may occur only once; the rows differ in strategy\n")


def test_the_select_that_is_left_loads_the_same_or_has_marked_lines(tmp_path):
    a_run_table(tmp_path)
    shown = describe([str(tmp_path / "runs.jsonl")], write=str(tmp_path / "map.sql"))
    read_streams(tmp_path, *shlex.split(shown.splitlines()[-1])[1:])
    assert counts(tmp_path) == SHAPES["a_run_table"][1]
    # A word that is no outcome is refused, and is not a wrong answer.
    with open(tmp_path / "runs.jsonl", "a") as stream:
        stream.write(json.dumps(run_rows()[0] | {"Trial": 9, "outcome": "timeout"}) + "\n")
    command = shlex.split(shown.splitlines()[-1])[1:]
    _, error = read_streams(tmp_path, *command, "--replace", status=2)
    assert "row 13" in error and "column correct: must be true or false" in error
    problems_of_an_unknown_name(tmp_path)
    shown = describe([str(tmp_path / "runs.jsonl")], write=str(tmp_path / "map.sql"))
    text = (tmp_path / "map.sql").read_text()
    marked = [line for line in text.splitlines() if "-- ???" in line]
    assert len(marked) == 1 and "puzzle_no" in marked[0]
    (tmp_path / "map.sql").write_text(text.replace(marked[0], "    puzzle_no as question_id,"))
    (tmp_path / "audit.duckdb").unlink()
    read_streams(tmp_path, *shlex.split(shown.splitlines()[-1])[1:])
    assert counts(tmp_path) == PLAIN
    # Of one document the select reads the list; what none reads is not written.
    rows = [run_of("m", p, k) for p, k in EACH]
    (tmp_path / "runs.json").write_text(json.dumps({"suite": 1, "results": rows}))
    shown = describe([str(tmp_path / "runs.json")], write=str(tmp_path / "map.sql"))
    (tmp_path / "audit.duckdb").unlink()
    read_streams(tmp_path, *shlex.split(shown.splitlines()[-1])[1:])
    assert counts(tmp_path) == (6, 1, 3, 2, 6, 0, 6, 4)
    groups_by_model(tmp_path)
    shown = describe([str(tmp_path / "runs.json")], write=str(tmp_path / "none.sql"))
    assert "nothing is written" in shown and not (tmp_path / "none.sql").exists()


@pytest.mark.parametrize("path", sorted(FORMATS.glob("*[!n]")), ids=lambda path: path.name)
def test_what_describe_prints_of_the_logs_of_tools_loads(tmp_path, path):
    shown = describe([str(path)]).splitlines()
    assert shown[0].startswith(("loads", "does not load yet: ")), shown
    if shown[0].startswith("loads"):
        read_streams(tmp_path, *shlex.split(shown[1])[1:])


def refusal(folder, source):
    """Return the verdict on what cannot be read: described, or refused in one line."""
    _, error = read_streams(folder, "describe", source, status=2)
    assert error.count("\n") == 1
    return error
