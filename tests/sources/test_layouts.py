"""Layouts that people have: attempts in lists, whole documents, and values from where a row is."""

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit.load.load import load
from tests.support.logs import lines, refusal

NAMED = {"archive": "m", "competition": "c"}
# Three problems of two attempts: tokens, finish reason, answer and label of each, by hand.
BY_HAND = [
    (0, 0, 11, "stop", "4", True),
    (0, 1, 25, "length", None, False),
    (1, 0, 7, "stop", "9", False),
    (1, 1, 8, "stop", "10", True),
    (2, 0, 30, "stop", "1", True),
    (2, 1, 31, "stop", "1", True),
]
TEXTS = [
    [r"so \boxed{4}", "and then"],
    [r"\boxed{9}", r"\boxed{10}"],
    [r"\boxed{1}", r"\boxed{01}"],
]


def attempts(con):
    return con.execute(
        """
        select question_id, slot, completion_tokens, finish_reason, answer, correct
        from attempts inner join labels using (archive, competition, question_id, seed)
        order by question_id, slot
        """
    ).fetchall()


def of(problem, place):
    return [row[place] for row in BY_HAND if row[0] == problem]


def parallel():
    return [
        {
            "id": problem,
            "responses": TEXTS[problem],
            "token_counts": of(problem, 2),
            "finish_reasons": of(problem, 3),
            "scores": [int(label) for label in of(problem, 5)],
            "gold": ["4", "10", "1"][problem],
            "num_tokens": 999,
        }
        for problem in range(3)
    ]


def objects():
    return [
        {
            "problem_id": row["id"],
            "gold": row["gold"],
            "score": 0,
            "samples": [
                {"text": text, "num_tokens": count, "finish_reason": reason, "is_correct": label}
                for text, count, reason, label in zip(
                    row["responses"],
                    row["token_counts"],
                    row["finish_reasons"],
                    map(bool, row["scores"]),
                    strict=True,
                )
            ],
        }
        for row in parallel()
    ]


def written(folder, records):
    """The records in every container that holds lists."""
    lines(folder / "a.jsonl", records)
    (folder / "array.json").write_text(json.dumps(records))
    (folder / "indented.json").write_text(json.dumps(records, indent=1))
    columns = {name: [record[name] for record in records] for name in records[0]}
    (folder / "columns.json").write_text(json.dumps(columns))
    (folder / "wrapped.json").write_text(json.dumps({"version": 1, "rows": records}, indent=2))
    pq.write_table(pa.Table.from_pylist(records), folder / "a.parquet")
    return [
        folder / name
        for name in (
            "a.jsonl", "array.json", "indented.json", "columns.json", "wrapped.json", "a.parquet"
        )
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("records", [parallel, objects])
def test_a_row_per_problem_loads_to_its_attempts_in_every_container(con, tmp_path, records):
    for path in written(tmp_path, records()):
        load(con, [str(path)], replace=True, **NAMED)
        assert attempts(con) == BY_HAND, path.name
        ((mapping,),) = con.execute("select mapping from sources").fetchall()
        # What a row says once about all its attempts is no attempt's.
        assert json.loads(mapping)["completion_tokens"] in (
            "token_counts.*", "samples.*.num_tokens"
        )  # fmt: skip
        repaired = con.execute("select count(*) filter (repaired_correct) from grades").fetchone()
        assert repaired == (4,), path.name


@pytest.mark.slow
def test_a_star_means_all_items_one_attempt_each_everywhere(con, tmp_path):
    records = [
        {"n": row["id"], "ys": row["responses"], "t": row["token_counts"],
         "e": row["finish_reasons"], "infos": [{"r": bool(score)} for score in row["scores"]]}
        for row in parallel()
    ]  # fmt: skip
    mapping = {
        "question_id": "n",
        "text": "ys.*",
        "completion_tokens": "t.*",
        "finish_reason": "e.*",
        "correct": "infos.*.r",
    }
    for path in written(tmp_path, records):
        load(con, [str(path)], mapping=mapping, replace=True, **NAMED)
        assert attempts(con) == BY_HAND, path.name
    line = refusal(con, path, mapping=mapping | {"text": "ys.*.*"}, replace=True, **NAMED)
    assert "one * is one list of attempts" in line
    # The place of one item is still the place of one item.
    one = mapping | {"text": "ys.0", "completion_tokens": "t.0", "finish_reason": "e.0"}
    one |= {"correct": "infos.0.r", "seed": "n"}
    load(con, [str(tmp_path / "a.jsonl")], mapping=one, replace=True, **NAMED)
    assert [row[4] for row in attempts(con)] == ["4", "9", "1"]


def test_lists_of_different_lengths_are_refused_with_their_row(con, tmp_path):
    records = parallel()
    mapping = {"text": "responses.*", "completion_tokens": "token_counts.*"}
    mapping |= {"finish_reason": "finish_reasons.*"}
    records[1]["token_counts"].append(5)
    line = refusal(con, lines(tmp_path / "a.jsonl", records), mapping=mapping, **NAMED)
    assert line.startswith("a.jsonl: row 2: one item for each attempt is needed, but ")
    assert "responses has 2" in line and "token_counts has 3" in line
    records[1]["token_counts"] = 7
    line = refusal(con, lines(tmp_path / "a.jsonl", records), mapping=mapping, **NAMED)
    assert line == "a.jsonl: row 2: token_counts must be a list, found 7"


def test_a_row_without_attempts_is_left_out_and_told(con, tmp_path):
    records = parallel()
    for name in ("responses", "token_counts", "finish_reasons", "scores"):
        records[1][name] = []
    summary = load(con, [str(lines(tmp_path / "a.jsonl", records))], **NAMED)
    assert summary.rows == 4
    assert "a.jsonl: 1 rows hold no attempt: left out" in summary.notes


def test_explode_names_the_list_where_detection_does_not(con, tmp_path):
    records = [
        {"id": row["problem_id"], "gold": row["gold"], "deep": {"tries": row["samples"]}}
        for row in objects()
    ]
    path = lines(tmp_path / "a.jsonl", records)
    assert "missing columns" in refusal(con, path, **NAMED)
    load(con, [str(path)], explode="deep.tries", **NAMED)
    assert attempts(con) == BY_HAND
    line = refusal(con, path, explode="deep.none", replace=True, **NAMED)
    assert line.startswith("a.jsonl: --explode deep.none: no list of that name; it has id")


def test_two_lists_that_could_hold_the_attempts_are_asked_about(con, tmp_path):
    records = [row | {"completions": row["responses"][::-1]} for row in parallel()]
    line = refusal(con, lines(tmp_path / "a.jsonl", records), **NAMED)
    assert "may be in responses or completions; pass --explode responses or" in line
    load(con, [str(tmp_path / "a.jsonl")], explode="responses", mapping={"text": "responses.*"},
         **NAMED)  # fmt: skip
    assert attempts(con) == BY_HAND


def test_messages_are_no_attempts_whatever_their_list_is_called(con, tmp_path):
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "4"}]
    records = [{"problem_id": p, "responses": messages, "output_tokens": 5} for p in range(2)]
    line = refusal(con, lines(tmp_path / "a.jsonl", records), finish_reason="stop", **NAMED)
    assert "missing columns seed, text" in line


def test_a_text_beside_a_list_of_texts_is_asked_about(con, tmp_path):
    records = [row | {"text": "What is it?"} for row in parallel()]
    line = refusal(con, lines(tmp_path / "a.jsonl", records), **NAMED)
    assert "text may be text or the items of responses; pass --map text=text or --explode" in line
    load(con, [str(tmp_path / "a.jsonl")], explode="responses", **NAMED)
    assert attempts(con) == BY_HAND


# One attempt per row


def flat(**changed):
    rows = []
    for problem, slot, tokens, reason, _, label in BY_HAND:
        text = TEXTS[problem][slot]
        rows.append({"problem": f"p{problem}", "sample": slot, "output": text,
                     "num_tokens": tokens, "finish_reason": reason, "score": float(label),
                     "gold": "4"} | changed)  # fmt: skip
    return rows


def table(path, records):
    with open(path, "w", newline="") as stream:
        writer = csv.DictWriter(stream, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
    return path


def test_loose_names_count_where_their_values_fit(con, tmp_path):
    lines(tmp_path / "a.jsonl", flat())
    pq.write_table(pa.Table.from_pylist(flat()), tmp_path / "a.parquet")
    table(tmp_path / "a.csv", [row | {"score": int(row["score"])} for row in flat()])
    for name in ("a.jsonl", "a.parquet", "a.csv"):
        load(con, [str(tmp_path / name)], replace=True, **NAMED)
        assert attempts(con) == BY_HAND, name
    # A score between is no label, and a token count is none of 0.
    load(con, [str(lines(tmp_path / "b.jsonl", flat(score=0.5)))], replace=True, **NAMED)
    assert con.execute("select count(correct) from labels").fetchone() == (0,)
    line = refusal(con, lines(tmp_path / "c.jsonl", flat(num_tokens=0)), replace=True, **NAMED)
    assert "missing column completion_tokens" in line


def test_samplings_in_a_struct_are_compared(con, tmp_path):
    hot = {"sampling": {"temperature": 1.0, "max_tokens": 4096}}
    cool = {"sampling": {"temperature": 0.6, "max_tokens": 4096}}
    records = [row | (hot if row["problem"] == "p0" else cool) for row in flat()]
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "a.parquet")
    for file in (lines(tmp_path / "a.jsonl", records), tmp_path / "a.parquet"):
        load(con, [str(file)], replace=True, **NAMED)
        query = "select count, total from quality_counts where \"check\" = 'sampling_mixed'"
        assert con.execute(query).fetchall() == [(2, 6)], file


def test_two_candidates_for_a_column_are_asked_about_unless_they_say_the_same(con, tmp_path):
    records = [row | {"response": row["output"], "generation": "x"} for row in flat()]
    line = refusal(con, lines(tmp_path / "a.jsonl", records), **NAMED)
    assert line == (
        "a.jsonl: text may be response or generation; "
        "pass --map text=response or --map text=generation"
    )
    load(con, [str(tmp_path / "a.jsonl")], mapping={"text": "response"}, **NAMED)
    assert attempts(con) == BY_HAND
    same = [row | {"generation": row["response"]} for row in records]
    load(con, [str(lines(tmp_path / "b.jsonl", same))], replace=True, **NAMED)
    assert attempts(con) == BY_HAND


def test_an_id_of_a_row_is_no_problem_where_a_row_is_an_attempt(con, tmp_path):
    records = [row | {"id": at} for at, row in enumerate(flat())]
    for record in records:
        del record["problem"]
    line = refusal(con, lines(tmp_path / "a.jsonl", records), **NAMED)
    assert "missing column question_id" in line


def test_text_in_a_canonical_question_id_loads_as_names_do(con, tmp_path):
    records = [row | {"question_id": row.pop("problem")} for row in flat()]
    lines(tmp_path / "a.jsonl", records)
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "a.parquet")
    table(tmp_path / "a.csv", records)
    for name in ("a.jsonl", "a.parquet", "a.csv"):
        load(con, [str(tmp_path / name)], replace=True, **NAMED)
        assert attempts(con) == BY_HAND, name
        found = con.execute("select question_id, name from problem_names order by all").fetchall()
        assert found == [(0, "p0"), (1, "p1"), (2, "p2")]


# From where a record stands


def per_problem(folder):
    """One CSV per problem, whose number is only in the file's name."""
    folder.mkdir(parents=True)
    for problem in range(3):
        rows = [
            {"output": TEXTS[problem][slot], "num_tokens": tokens, "finish_reason": reason,
             "score": int(label)}
            for at, slot, tokens, reason, _, label in BY_HAND if at == problem
        ]  # fmt: skip
        table(folder / f"{problem}.csv", rows)
    return folder


def test_columns_come_from_path_file_folder_and_row(con, tmp_path):
    folder = per_problem(tmp_path / "aime" / "model-x")
    mapping = {"question_id": r"@path~(\d+)\.csv", "seed": "@row", "archive": "@folder"}
    load(con, [str(folder)], mapping=mapping, competition="c")
    assert attempts(con) == BY_HAND
    assert con.execute("select distinct archive, min(seed) from attempts group by all").fetchall() \
        == [("model-x", 1)]  # fmt: skip
    mapping |= {"question_id": "@file", "competition": r"@path~/([^/]+)/[^/]+/[^/]+\.csv"}
    load(con, [str(folder)], mapping=mapping, replace=True)
    assert attempts(con) == BY_HAND
    assert con.execute("select distinct competition from attempts").fetchall() == [("aime",)]
    for bad, message in (
        ({"question_id": "@line"}, "no such place; there are @row, @file, @folder, @path"),
        ({"text": "@file"}, "only archive, competition, question_id, seed may come from a place"),
        ({"question_id": "@path~q(.+)q"}, "the pattern is not in"),
        ({"seed": r"@row~(\d)"}, "no pattern splits it"),
    ):
        assert message in refusal(con, folder, mapping=mapping | bad, replace=True)


def test_a_row_is_its_problem_where_nothing_else_names_it(con, tmp_path):
    records = parallel()
    for record in records:
        del record["id"]
    by_row = [(row[0] + 1, *row[1:]) for row in BY_HAND]
    for path in written(tmp_path, records):
        load(con, [str(path)], mapping={"question_id": "@row"}, replace=True, **NAMED)
        assert attempts(con) == by_row, path.name
    single = [row | {"n": at % 2} for at, row in enumerate(flat())]
    pq.write_table(pa.Table.from_pylist(single), tmp_path / "b.parquet")
    mapping = {"question_id": "problem", "seed": "@row"}
    load(con, [str(tmp_path / "b.parquet")], mapping=mapping, replace=True, **NAMED)
    assert attempts(con) == BY_HAND
    assert con.execute("select max(seed) from attempts").fetchone() == (6,)


def test_groups_of_a_document_go_by_their_keys(con, tmp_path):
    groups = {f"p{row['problem_id']}": row["samples"] for row in objects()}
    (tmp_path / "a.json").write_text(json.dumps(groups))
    load(con, [str(tmp_path / "a.json")], mapping={"seed": "@row"}, **NAMED)
    assert attempts(con) == BY_HAND


def test_a_damaged_document_is_refused_in_one_line(con, tmp_path):
    text = json.dumps(parallel())
    path = tmp_path / "a.json"
    for bad, message in (
        (text[:-20], "a.json: not readable as JSON"),
        (text + " x", "expected the end, found 'x'"),
        ('[{"a": 1}, 7]', "row 2: must be an object, found 7"),
        ('[{"a": 1, "a": 2}]', "key 'a' occurs twice"),
        ("[]", "holds no rows"),
        ('{\n "a": [1,\n', "not readable as JSON"),
        ("[" + '{"a":' * 20_000, "not readable"),
    ):
        path.write_text(bad)
        assert message in refusal(con, path, **NAMED)


def test_a_folder_takes_json_with_records_and_leaves_settings(con, tmp_path):
    (tmp_path / "records.json").write_text(json.dumps(parallel()))
    (tmp_path / "settings.json").write_text('{"temperature": 0.6, "stop": ["x"]}')
    load(con, [str(tmp_path)], **NAMED)
    assert attempts(con) == BY_HAND
    assert con.execute("select file from sources").fetchall() == [("records.json",)]


# vLLM


def request_outputs():
    """What vLLM's RequestOutput becomes when its fields are dumped."""
    return [
        {
            "request_id": str(row["id"]),
            "prompt": f"Problem {row['id']}",
            "prompt_token_ids": [5, 6, 7],
            "outputs": [
                {"index": at, "text": text, "token_ids": list(range(count)),
                 "cumulative_logprob": -0.5 * count, "logprobs": None, "finish_reason": reason,
                 "stop_reason": None}
                for at, (text, count, reason) in enumerate(
                    zip(row["responses"], row["token_counts"], row["finish_reasons"], strict=True)
                )
            ],
            "finished": True,
        }
        for row in parallel()
    ]  # fmt: skip


def test_vllm_dumps_count_token_ids_and_average_log_probabilities(con, tmp_path):
    references = lines(
        tmp_path / "r.jsonl", [{"id": r["id"], "answer": r["gold"]} for r in parallel()]
    )
    options = NAMED | {"grade": "references", "references": str(references)}
    lines(tmp_path / "a.jsonl", request_outputs())
    (tmp_path / "a.json").write_text(json.dumps(request_outputs()))
    pq.write_table(pa.Table.from_pylist(request_outputs()), tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.json", "a.parquet"):
        load(con, [str(tmp_path / name)], replace=True, **options)
        assert attempts(con) == BY_HAND, name
        found = con.execute(
            "select distinct prompt_tokens, mean_logprob, format "
            "from attempts inner join sources using (archive)"
        ).fetchall()
        assert found == [(3, -0.5, "vllm")]


def test_vllm_requests_that_repeat_a_prompt_are_told(con, tmp_path):
    records = request_outputs()
    for record in records:
        record["prompt"] = "the same"
        del record["outputs"][1]
    path = lines(tmp_path / "a.jsonl", records)
    (note,) = [n for n in load(con, [str(path)], **NAMED).notes if "repeat a prompt" in n]
    assert note.startswith("a.jsonl: 2 requests") and "--map question_id=prompt" in note
    mapping = {"question_id": "prompt", "seed": "@row"}
    load(con, [str(path)], mapping=mapping, replace=True, **NAMED)
    assert con.execute("select question_id, seed from attempts order by all").fetchall() == [
        (0, 1), (0, 2), (0, 3)
    ]  # fmt: skip
