"""Scorio Trace, the study's archive, by its documented columns: both layouts, invented content."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit.errors import AuditError
from audit.load.load import load

TASKS = {"aime24": "AIME24", "hmmt25_feb": "HMMT25"}
EFFORTS = ("low", "high")
SET = {"answer_is_set": True}


def trace_row(task="aime24", effort="low", problem=0, seed=1234, answer="100", **changed):
    """One attempt under the archive's column names; without an answer its parser says NotFound."""
    row = {
        "task": task,
        "model": "openai/gpt-oss-20b",
        "model_key": f"gpt-oss-20b_{effort}",
        "reasoning_level": effort,
        "data_id": problem,
        "seed": seed,
        "prompt": "…",
        "trigger": None,
        "has_trigger": False,
        "sampling": {"temperature": 1.0, "top_p": 1.0, "max_tokens": 32768},
        "text": rf"So \boxed{{{answer}}}" if answer else "I do not know",
        "finish_reason": "stop",
        "num_prompt_tokens": 120,
        "num_completion_tokens": 10 * (seed - 1233),
        "ground_truth": "'100'",
        "ground_truth_accepted": ["100"],
        "answer_is_set": False,
        "extracted_answer": answer or "NotFound",
        "extracted_answer_is_list": False,
        "has_box": int(answer is not None),
        "is_correct": int(answer == "100"),
        "prompt_logprob_sentinel": -9999.0,
        "tokens": {"completion_avg_logprob": -0.25, "num_completion": 10},
    }
    for name, label in (("cv3b", "A"), ("cv7b", "B")):
        row |= {f"{name}_label": label, f"{name}_prob": 0.75}
        row |= {f"{name}_ctx_{letter}": 0.1 for letter in "ABC"}
    return row | changed


def write_trace(path, rows):
    """Write rows as Parquet, labels and boxes as the small integers that the archive has."""
    table = pa.Table.from_pylist(rows)
    for name in ("is_correct", "has_box"):
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, table[name].cast(pa.int8()))
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
    return str(path)


def select(con, sql):
    return con.execute(sql).fetchall()


ROWS = [
    trace_row(task, effort, problem, seed, answer)
    for task in TASKS
    for effort in EFFORTS
    for problem in (0, 1)
    for seed, answer in ((1234, "100"), (1235, "7"), (1236, None))
]


@pytest.mark.parametrize("layout", ["files", "split", "lines"])
def test_both_layouts_load_as_the_same_archives(con, tmp_path, layout):
    if layout == "files":
        for task in TASKS:
            for effort in EFFORTS:
                key = f"gpt-oss-20b_{effort}"
                rows = [r for r in ROWS if (r["task"], r["model_key"]) == (task, key)]
                write_trace(tmp_path / "meta" / task / f"{key}.parquet", rows)
        load(con, [str(tmp_path / "meta")])
    elif layout == "split":
        load(con, [write_trace(tmp_path / "train.parquet", ROWS)])
    else:
        con.from_arrow(pa.Table.from_pylist(ROWS)).create("rows")
        con.execute(f"copy rows to '{tmp_path / 'saved.jsonl'}' (format json)")
        con.execute("drop table rows")
        load(con, [str(tmp_path / "saved.jsonl")])
    counted = "select archive, competition, count(*) from attempts group by all order by all"
    assert select(con, counted) == [
        (f"gpt-oss-20b_{effort}", competition, 6)
        for effort in sorted(EFFORTS)
        for competition in sorted(TASKS.values())
    ]  # fmt: skip
    # NotFound votes for nothing, although its attempt is finished.
    answers = "select seed, archive_answer, count(*) from attempts group by all order by 1"
    assert select(con, answers) == [
        (1234, "100", 8), (1235, "7", 8), (1236, None, 8)
    ]  # fmt: skip
    assert select(con, "select seed, bool_and(correct) from labels group by 1 order by 1") == [
        (1234, True), (1235, False), (1236, False)
    ]  # fmt: skip
    assert select(con, "select distinct reference from accepted_references") == [("100",)]
    assert select(con, "select distinct temperature, top_p, max_tokens from attempts") == [
        (1.0, 1.0, 32768)
    ]
    # A is correct; any other label gives the rest of its probability.
    assert select(con, "select distinct score, value from recorded_scores order by 1") == [
        ("cv3b", 0.75), ("cv7b", 0.25)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "answer"),
    [
        ({"answer": "8", "has_box": 0}, None),
        ({"answer": "8", "has_box": 1}, "8"),
        ({"extracted_answer": "NotFound", "has_box": 1}, None),
        ({"extracted_answer": "1, 2", "extracted_answer_is_list": True}, "1,2"),
    ],
)
def test_an_answer_needs_a_box(con, tmp_path, row, answer):
    load(con, [write_trace(tmp_path / "a.parquet", [trace_row(**row)])])
    assert select(con, "select archive_answer from attempts") == [(answer,)]


@pytest.mark.parametrize(
    ("row", "references"),
    [
        ({"ground_truth_accepted": [r"\frac{1}{2}", "0.5"]}, ["0.5", r"\frac{1}{2}"]),
        # Without the list, or with an empty one, the literal is read.
        ({"ground_truth_accepted": None}, ["100"]),
        ({"ground_truth_accepted": []}, ["100"]),
        ({"ground_truth_accepted": None, "ground_truth": "['3', '4']"}, ["3", "4"]),
        ({"ground_truth_accepted": None, "ground_truth": r"'\\sqrt{2}'"}, [r"\sqrt{2}"]),
        # What is no literal of texts is the reference itself.
        ({"ground_truth_accepted": None, "ground_truth": "(3, 4)"}, ["(3,4)"]),
        ({"ground_truth_accepted": None, "ground_truth": "1e3"}, ["1e3"]),
        ({"ground_truth_accepted": None, "ground_truth": "['3' '4']"}, ["['3''4']"]),
        # The members of a set are one answer; spellings of it are several.
        (SET | {"ground_truth": "['3', '4']", "ground_truth_accepted": ["3", "4"]}, ["3,4"]),
        (SET | {"ground_truth": "{'3', '4'}", "ground_truth_accepted": None}, ["3,4"]),
        (SET | {"ground_truth_accepted": ["3, 4", "4, 3"]}, ["3,4", "4,3"]),
    ],
)
def test_references_are_the_accepted_forms(con, tmp_path, row, references):
    load(con, [write_trace(tmp_path / "a.parquet", [trace_row(**row)])])
    found = select(con, "select reference from accepted_references order by 1")
    assert [reference for (reference,) in found] == references


def test_configurations_of_one_model_are_told_apart_without_a_key(con, tmp_path):
    rows = [{k: v for k, v in row.items() if k != "model_key"} for row in ROWS]
    load(con, [write_trace(tmp_path / "a.parquet", rows)])
    assert select(con, "select distinct archive from attempts order by 1") == [
        ("gpt-oss-20b_high",), ("gpt-oss-20b_low",)
    ]  # fmt: skip
    for row in rows:
        del row["reasoning_level"]
    with pytest.raises(AuditError, match="only once"):
        load(con, [write_trace(tmp_path / "b.parquet", rows)], replace=True)


def test_a_verifier_without_a_label_gives_no_score(con, tmp_path):
    rows = [
        trace_row(seed=1234, cv3b_label=None),
        trace_row(seed=1235, cv3b_label="C", cv3b_prob=0.9),
        trace_row(seed=1236, cv3b_prob=None),
    ]
    load(con, [write_trace(tmp_path / "a.parquet", rows)])
    found = select(con, "select seed, value from recorded_scores where score = 'cv3b'")
    assert found == [(1235, pytest.approx(0.1))]
