"""The door: shapes that people have. What `describe` prints loads, and with the right numbers.

Each shape is a small file or folder that we made in the shape of a public one. Where `describe`
prints a command, that command is run, and what it loads is compared with what was written.
"""

import csv
import json
import shlex
import sys
import zipfile

import duckdb
import pytest

import audit.load.describe  # noqa: F401
from audit.errors import AuditError
from tests.support.command import told
from tests.support.logs import FORMATS
from tests.support.slow import every_other

# Three problems of two attempts: what each says, whether it is right.
ANSWERS = [["4", "5"], ["9", "10"], ["1", "1"]]
GOLD = ["4", "10", "1"]
LONG = "First we look at the numbers, then we add them up one by one, and so we find "
TEXTS = [[f"{LONG}\\boxed{{{a}}}" for a in row] for row in ANSWERS]
RIGHT = [[a == gold for a in row] for row, gold in zip(ANSWERS, GOLD, strict=True)]
QUESTION = ["What is two and two, said in one number?", "What is five and five?", "What is one?"]
# Attempts, archives, problems, attempts each, finished, answered, labelled, right.
PLAIN = (6, 1, 3, 2, 6, 6, 6, 4)
EACH = [(p, k) for p in range(3) for k in range(2)]


def lines(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


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


@pytest.fixture
def loads(monkeypatch):
    """Loads by their options, with what they held: `describe` tries one, a command asks for it."""
    tried, asked = [], []
    real = sys.modules["audit.load.load"].load

    def trial(con, files, *, reading):
        assert all(file.sample == file.bytes for file in files)
        summary = real(con, files, reading=reading)
        tried.append((reading, con.execute(COUNTS).fetchall()[0]))
        return summary

    def ask(con, files, *, reading, replace, texts, progress):
        assert texts and not replace
        asked.append(reading)
        raise AuditError("it was tried before")

    monkeypatch.setattr(sys.modules["audit.load.describe"], "load", trial)
    monkeypatch.setattr(sys.modules["audit.load.load"], "load", ask)
    return tried, asked


# A label is never guessed from a constant, or from a name of another meaning


@shape((6, 1, 3, 2, 6, 6, 0, 0))
def vllm_dump(folder):
    lines(folder / "dump.jsonl", [
        {"request_id": str(p), "prompt": QUESTION[p], "prompt_token_ids": [1, 2, 3],
         "outputs": [{"index": k, "text": TEXTS[p][k], "token_ids": [1] * (30 + k),
                      "finish_reason": "stop"} for k in range(2)],
         "finished": True} for p in range(3)
    ])  # fmt: skip


@shape((6, 1, 3, 2, 6, 6, 6, 4))
def lm_eval_log(folder):
    lines(folder / "samples_math_2026-11-15T23-39-23.641421.jsonl", [
        {"doc_id": p, "doc": {"question": QUESTION[p]}, "target": GOLD[p],
         "arguments": {"gen_args_0": {"arg_0": QUESTION[p], "arg_1": {"do_sample": p < 2}}},
         "resps": [TEXTS[p]], "filtered_resps": TEXTS[p]} for p in range(3)
    ])  # fmt: skip
    (folder / "results_2026-11-15T23-39-23.641421.json").write_text('{"model_name": "m"}')


@shape((6, 1, 3, 2, 6, 6, 0, 0))
def names_of_another_meaning(folder):
    lines(folder / "dump.jsonl", [
        {"problem_id": p, "attempt": k, "response": TEXTS[p][k], "num_tokens": 30 + k,
         "truncated": k == 1, "loop_flag": p == 1, "success": p < 2, "done": k == 0}
        for p, k in EACH
    ])  # fmt: skip


@shape((6, 1, 3, 2, 6, 6, 0, 0))
def a_class_to_predict_is_no_label(folder):
    lines(folder / "dump.jsonl", [
        {"problem_id": p, "attempt": k, "response": TEXTS[p][k], "num_tokens": 30 + k,
         "label": p % 2, "choice_score": "AB"[p % 2]} for p, k in EACH
    ])  # fmt: skip


@shape((3, 1, 3, 1, 3, 3, 0, 0))
def a_solution_of_the_problem_is_no_text(folder):
    lines(folder / "dump.jsonl", [
        {"id": f"p{p}", "problem": QUESTION[p], "solution": "so it is \\boxed{7} " * 30,
         "generated": TEXTS[p][0], "label": p % 2} for p in range(3)
    ])  # fmt: skip


@shape((6, 1, 3, 2, 6, 6, 6, 4))
def letter_grades_of_simpleqa(folder):
    rows(folder / "simpleqa.csv", [
        {"problem_id": p, "sample": k, "response": TEXTS[p][k], 
         "grade": "A" if RIGHT[p][k] else "BC"[p % 2]}
        for p, k in EACH
    ])  # fmt: skip


@shape(PLAIN)
def letter_grades_of_inspect(folder):
    lines(folder / "grades.jsonl", [
        {"problem_id": p, "sample": k, "response": TEXTS[p][k], "tokens": 30 + k,
         "grade": "C" if RIGHT[p][k] else "I"} for p, k in EACH
    ])  # fmt: skip


# Ids in rows go before names of files


@shape(PLAIN)
def runs_in_numbered_files(folder):
    for k in range(2):
        lines(folder / "out" / f"run_{k + 1}.jsonl", [
            {"id": f"p{p}", "question": QUESTION[p], "response": TEXTS[p][k], "tokens": 30 + k,
             "correct": RIGHT[p][k]} for p in range(3)
        ])  # fmt: skip


@shape((12, 1, 3, 4, 12, 12, 12, 8))
def runs_of_several_attempts(folder):
    for run in range(2):
        lines(folder / "out" / f"run{run}.jsonl", [
            {"id": f"p{p}", "responses": TEXTS[p], "is_correct": RIGHT[p]} for p in range(3)
        ])  # fmt: skip


@shape((12, 2, 3, 2, 12, 12, 12, 8))
def two_models_in_two_files(folder):
    for name in ("gpt-4_0.7", "s1.1-7B"):
        lines(folder / "out" / f"{name}.jsonl", [
            {"problem_id": p, "sample_index": k, "response": TEXTS[p][k], "is_correct": RIGHT[p][k]}
            for p, k in EACH
        ])  # fmt: skip


@shape((12, 2, 3, 2, 12, 12, 12, 8))
def two_models_that_differ_by_a_number(folder):
    for name in ("llama-7b", "llama-13b"):
        lines(folder / "out" / f"{name}.jsonl", [
            {"problem_id": p, "response": TEXTS[p][k], "is_correct": RIGHT[p][k]} for p, k in EACH
        ])  # fmt: skip


@shape((6, 2, 3, 1, 6, 6, 6, 4))
def two_models_of_one_attempt_each(folder):
    for k, name in enumerate(("gpt-3", "gpt-4")):
        lines(folder / "out" / f"{name}.jsonl", [
            {"id": f"p{p}", "response": TEXTS[p][k], "is_correct": RIGHT[p][k]} for p in range(3)
        ])  # fmt: skip


@shape((12, 2, 3, 2, 12, 12, 12, 8))
def a_folder_for_each_model(folder):
    for name in ("one", "two"):
        lines(folder / "out" / name / "samples.jsonl", [
            {"problem_id": p, "sample_index": k, "response": TEXTS[p][k], "is_correct": RIGHT[p][k]}
            for p, k in EACH
        ])  # fmt: skip


@shape(PLAIN)
def one_csv_for_each_problem(folder):
    for p in range(3):
        rows(folder / "out" / f"problem_{p}.csv", [
            {"output": TEXTS[p][k], "answer": ANSWERS[p][k], "is_correct": RIGHT[p][k]}
            for k in range(2)
        ])  # fmt: skip


@shape((6, 1, 3, 2, 6, 6, 6, 4))
def shards_of_one_run(folder):
    for p in range(3):
        lines(folder / "out" / f"part-{p}.jsonl", [
            {"problem_id": p, "attempt": k, "response": TEXTS[p][k], "correct": RIGHT[p][k]}
            for k in range(2)
        ])  # fmt: skip


# Lists


@shape(PLAIN)
def qwen_math_outputs(folder):
    lines(folder / "test_qwen25.jsonl", [
        {"idx": p, "question": QUESTION[p], "gt_cot": "long " * 40, "gt": GOLD[p],
         "level": "Level 1", "solution": "a long reference solution " * 20, "answer": GOLD[p],
         "code": TEXTS[p], "pred": ANSWERS[p], "report": [None, None], "score": RIGHT[p],
         "pred_score": [[0.5], [0.25]]} for p in range(3)
    ])  # fmt: skip


@shape((6, 1, 3, 2, 4, 6, 6, 4))
def a_scalar_finish_reason_beside_lists(folder):
    lines(folder / "dump.jsonl", [
        {"id": p, "responses": TEXTS[p], "token_counts": [30, 31], "scores": RIGHT[p],
         "finish_reason": "stop" if p else "length"} for p in range(3)
    ])  # fmt: skip


@shape((6, 1, 3, 2, 4, 6, 6, 4))
def a_finish_reason_in_an_object_beside_lists(folder):
    lines(folder / "dump.jsonl", [
        {"id": p, "responses": TEXTS[p], "token_counts": [30, 31], "scores": RIGHT[p],
         "ending": {"reason": "stop" if p else "length"}} for p in range(3)
    ])  # fmt: skip


@shape(PLAIN)
def a_list_of_objects(folder):
    lines(folder / "dump.jsonl", [
        {"problem": QUESTION[p], "candidates": [
            {"y": TEXTS[p][k], "right": RIGHT[p][k], "n_tok": 30 + k} for k in range(2)]}
        for p in range(3)
    ])  # fmt: skip


# Documents


@shape(PLAIN)
def one_line_that_holds_a_list_of_problems(folder):
    (folder / "results.json").write_text(json.dumps(
        {"model": "m", "n": 3, "results": [
            {"id": f"p{p}", "input": QUESTION[p], "responses": TEXTS[p], "is_correct": RIGHT[p]}
            for p in range(3)]}
    ))  # fmt: skip


@shape(PLAIN)
def objects_keyed_by_problem(folder):
    (folder / "by_problem.json").write_text(json.dumps(
        {f"task-{p}": {"question": QUESTION[p], "responses": TEXTS[p], "is_correct": RIGHT[p]}
         for p in range(3)}
    ))  # fmt: skip


@shape(PLAIN)
def big_bench_examples(folder):
    (folder / "bbh.json").write_text(json.dumps(
        {"canary": "do not train", "examples": [
            {"input": QUESTION[p], "target": GOLD[p], "responses": TEXTS[p]} for p in range(3)]},
        indent=1,
    ))  # fmt: skip


@shape(PLAIN)
def a_folder_of_json_that_no_format_knows(folder):
    for p, k in EACH:
        (folder / "out").mkdir(exist_ok=True)
        (folder / "out" / f"{p}_{k}.json").write_text(json.dumps(
            {"problem_id": p, "attempt": k, "response": TEXTS[p][k], "correct": RIGHT[p][k]}
        ))  # fmt: skip


# Names


@shape(PLAIN)
def sample_id_is_the_problem(folder):
    lines(folder / "dump.jsonl", [
        {"sample_id": f"q-{p}", "epoch": k, "response": TEXTS[p][k], "correct": RIGHT[p][k]}
        for p, k in EACH
    ])  # fmt: skip


@shape(PLAIN)
def sample_id_alone_is_the_problem(folder):
    lines(folder / "dump.jsonl", [
        {"sample_id": f"q-{p}", "response": TEXTS[p][k], "correct": RIGHT[p][k]} for p, k in EACH
    ])  # fmt: skip


@shape(PLAIN)
def a_name_with_dots(folder):
    lines(folder / "s1.1-7B_t0.7.jsonl", [
        {"problem_id": p, "attempt": k, "response": TEXTS[p][k], "correct": RIGHT[p][k]}
        for p, k in EACH
    ])  # fmt: skip


@shape(PLAIN)
def a_header_beside_the_records(folder):
    lines(folder / "out" / "records.jsonl", [
        {"problem_id": p, "attempt": k, "response": TEXTS[p][k], "correct": RIGHT[p][k]}
        for p, k in EACH
    ])  # fmt: skip
    (folder / "out" / "header.json").write_text('{"config": {"model": "acme/m-7"}}')


# Answers


@shape(PLAIN)
def the_answer_is(folder):
    lines(folder / "dump.jsonl", [
        {"problem_id": p, "attempt": k, "correct": RIGHT[p][k],
         "response": f"{LONG}it. So the answer is {ANSWERS[p][k]}."} for p, k in EACH
    ])  # fmt: skip


@shape(PLAIN)
def answer_colon(folder):
    lines(folder / "dump.jsonl", [
        {"problem_id": p, "attempt": k, "correct": RIGHT[p][k],
         "response": f"{LONG}it.\nAnswer: {ANSWERS[p][k]}"} for p, k in EACH
    ])  # fmt: skip


@shape(PLAIN)
def answers_that_the_log_extracts(folder):
    lines(folder / "dump.jsonl", [
        {"problem_id": p, "attempt": k, "correct": RIGHT[p][k], "response": f"{LONG}it ({k}).",
         "model_answer_text": ANSWERS[p][k], "pred": ANSWERS[p][k]} for p, k in EACH
    ])  # fmt: skip


@shape(PLAIN)
def references_alone(folder):
    lines(folder / "dump.jsonl", [
        {"problem_id": p, "attempt": k, "gold": GOLD[p], "response": TEXTS[p][k]} for p, k in EACH
    ])  # fmt: skip


@shape((6, 1, 3, 2, 6, 0, 6, 4))
def code_without_an_answer(folder):
    lines(folder / "humaneval.jsonl", [
        {"task_id": f"HumanEval/{p}", "completion": f"def f{k}(x):\n    return x + {p}\n",
         "passed": RIGHT[p][k]} for p, k in EACH
    ])  # fmt: skip


@shape((3, 1, 3, 1, 3, 0, 3, 2))
def openhands_output(folder):
    lines(folder / "output.jsonl", [
        {"instance_id": f"django-{p}", "instruction": "Fix the bug. " * 20,
         "metadata": {"agent_class": "CodeActAgent", "llm_config": {"model": "acme/m"}},
         "history": [{"id": 0, "source": "agent", "message": "I look."}] * 3,
         "metrics": {"accumulated_cost": 0.5, "accumulated_token_usage": {
             "prompt_tokens": 900 + p, "completion_tokens": 90 + p}},
         "error": None, "report": {"resolved": RIGHT[p][0], "empty_generation": False}}
        for p in range(3)
    ])  # fmt: skip


@shape((6, 1, 3, 2, 5, 5, 6, 3))
def a_failed_attempt_among_others(folder):
    lines(folder / "dump.jsonl", [
        {"problem_id": p, "attempt": k, "completion_tokens": 30 if p or k else 0,
         "response": TEXTS[p][k] if p or k else "", "finish_reason": "stop",
         "correct": RIGHT[p][k] if p or k else False} for p, k in EACH
    ])  # fmt: skip


# Text


@shape(PLAIN)
def a_prompt_that_is_longer_than_the_text(folder):
    lines(folder / "dump.jsonl", [
        {"instance_id": p, "prompt_text": QUESTION[p] * 20, "created_text": "2026-01-01T00:00:00Z",
         "reply_body_text": TEXTS[p][k], "is_right": RIGHT[p][k]} for p, k in EACH
    ])  # fmt: skip


@shape("no text, box or extracted answer")
def only_prompts_and_scores(folder):
    lines(folder / "dump.jsonl", [
        {"instance_id": p, "input_text": QUESTION[p], "score": 0.5 + p} for p in range(3)
    ])  # fmt: skip


@shape("holds turns that build on one another")
def turns_that_revise_one_another(folder):
    lines(folder / "dump.jsonl", [
        {"id": p, "rounds": [{"text": TEXTS[p][0]}, {"text": TEXTS[p][1]}], "label": RIGHT[p][1]}
        for p in range(3)
    ])  # fmt: skip


@shape("round numbers turns that build on one another")
def rows_that_are_turns(folder):
    lines(folder / "dump.jsonl", [
        {"problem_id": p, "round": k, "response": TEXTS[p][k], "correct": RIGHT[p][k]}
        for p, k in EACH
    ])  # fmt: skip


@shape("no text, box or extracted answer")
def only_time_stamps_and_steps(folder):
    lines(folder / "dump.jsonl", [
        {"task_id": p, "created_at_text": f"2026-01-0{p + 1}T00:00:00Z", "steps_text": "look, then",
         "output_tokens": 30 + p} for p in range(3)
    ])  # fmt: skip


@shape((6, 1, 3, 2, 6, 6, 0, 0))
def helm_scenario_state(folder):
    (folder / "scenario_state.json").write_text(json.dumps(
        {"adapter_spec": {"method": "generation", "model": "acme/m"}, "request_states": [
            {"instance": {"id": f"id{p}", "input": {"text": QUESTION[p] * 9},
                          "references": [{"output": {"text": GOLD[p]}, "tags": ["correct"]}]},
             "request": {"model": "acme/m", "prompt": QUESTION[p] * 10},
             "result": {"success": True, "request_time": 0.5, "request_datetime": 1700000000,
                        "completions": [{"text": text, "logprob": -1.5} for text in TEXTS[p]]}}
            for p in range(3)]}, indent=2,
    ))  # fmt: skip


@shape((3, 1, 3, 1, 3, 3, 3, 2))
def lm_eval_with_a_metric_for_its_only_response(folder):
    lines(folder / "samples_math_2026-11-15T23-39-23.641421.jsonl", [
        {"doc_id": p, "doc": {"question": QUESTION[p]}, "target": "the whole solution",
         "resps": [TEXTS[p][:1]], "filtered_resps": TEXTS[p][:1], "exact_match": float(RIGHT[p][0])}
        for p in range(3)
    ])  # fmt: skip
    (folder / "results_2026-11-15T23-39-23.641421.json").write_text('{"model_name": "m"}')


# Scores


@shape(PLAIN)
def scores_of_known_names(folder):
    lines(folder / "dump.jsonl", [
        {"problem_id": p, "attempt": k, "response": TEXTS[p][k], "is_correct": RIGHT[p][k],
         "reward": 0.1 * p + 0.5 * k, "prm_scores": [0.5, 0.1 * p], "confidence": 1.0}
        for p, k in EACH
    ])  # fmt: skip


@shape(PLAIN)
def a_reward_that_may_be_the_label(folder):
    lines(folder / "dump.jsonl", [
        {"problem_id": p, "attempt": k, "response": TEXTS[p][k], "reward": float(RIGHT[p][k])}
        for p, k in EACH
    ])  # fmt: skip


# Values, not names alone, say what a column is


@shape((6, 1, 3, 2, 6, 6, 6, 4))
def completions_under_a_key(folder):
    (folder / "dump.json").write_text(json.dumps([
        {"id": f"q{p}", "attempt": k, "gold": GOLD[p], "completion": {
            "model": "m", "usage": {"prompt_tokens": 9, "completion_tokens": 30 + k},
            "choices": [{"message": {"role": "assistant", "content": TEXTS[p][k]},
                         "finish_reason": "stop"}]}} for p, k in EACH
    ]))  # fmt: skip


@shape(PLAIN)
def promptfoo_results(folder):
    (folder / "eval.json").write_text(json.dumps({"evalId": "e", "results": {
        "version": 3, "prompts": [{"raw": "q", "provider": "m"}], "results": [
            {"promptIdx": 0, "prompt": {"raw": QUESTION[p]}, "vars": {"question": QUESTION[p]},
             "response": {"output": TEXTS[p][k],
                          "tokenUsage": {"total": 39 + k, "prompt": 9, "completion": 30 + k}},
             "success": RIGHT[p][k], "score": float(RIGHT[p][k])} for p, k in EACH]},
        "config": {}}))  # fmt: skip


@shape(PLAIN)
def one_message_in_a_list(folder):
    lines(folder / "dump.jsonl", [
        {"example_id": p, "prompt": [{"role": "user", "content": QUESTION[p]}],
         "completion": [{"role": "assistant", "content": TEXTS[p][k]}],
         "reward": float(RIGHT[p][k])} for p, k in EACH
    ])  # fmt: skip


@shape(PLAIN)
def lists_of_answers_and_labels(folder):
    for p in range(3):
        (folder / "o3").mkdir(exist_ok=True)
        (folder / "o3" / f"{p}.json").write_text(json.dumps(
            {"idx": p, "problem": QUESTION[p], "gold_answer": GOLD[p], "answers": ANSWERS[p],
             "messages": [[{"role": "user", "content": "x"}]] * 2, "correct": RIGHT[p],
             "detailed_costs": [{"cost": 0.1, "output_tokens": 30 + k} for k in range(2)]}
        ))  # fmt: skip


@shape(PLAIN)
def costs_and_answers_in_a_csv_for_each_problem(folder):
    for p in range(3):
        (folder / "out").mkdir(exist_ok=True)
        (folder / "out" / f"{p}.csv").write_text(
            ",answer,token_usage,correct\n"
            + "".join(f"{k},{ANSWERS[p][k]},{30 + k},{RIGHT[p][k]}\n" for k in range(2))
        )


@shape((12, 2, 3, 2, 12, 12, 0, 0))
def a_csv_for_each_problem_of_two_models(folder):
    for name in ("one", "two"):
        for p in range(3):
            rows(folder / "out" / name / f"{p}.csv", [
                {"answer": ANSWERS[p][k], "token_usage": 30 + k} for k in range(2)
            ])  # fmt: skip


@shape(PLAIN)
def texts_and_answers_in_numbered_csvs(folder):
    for p in range(3):
        rows(folder / "out" / f"aime_{p}.csv", [
            {"answer": ANSWERS[p][k], "token_usage": 30 + k, "answer_raw": TEXTS[p][k],
             "is_correct": RIGHT[p][k]} for k in range(2)
        ])  # fmt: skip


@shape(PLAIN)
def one_document_for_each_problem(folder):
    for p in range(3):
        lines(folder / "out" / f"offline_qid{p}_rid0_2026.json", [
            {"question": QUESTION[p], "ground_truth": GOLD[p], "qid": p, "all_traces": [
                {"text": TEXTS[p][k], "num_tokens": 30 + k, "is_correct": RIGHT[p][k]}
                for k in range(2)]}
        ])  # fmt: skip


@shape(PLAIN)
def a_folder_for_each_problem_of_numbered_rows(folder):
    for p in range(3):
        lines(folder / "out" / f"2024-I-{p}" / "samples.jsonl", [
            {"sample": k, "response": TEXTS[p][k], "tokens": 30 + k, "correct": RIGHT[p][k]}
            for k in range(2)
        ])  # fmt: skip


@shape((12, 2, 3, 2, 12, 12, 12, 8))
def lists_keyed_by_model(folder):
    (folder / "all.json").write_text(json.dumps(
        {name: [{"qid": p, "sample": k, "response": TEXTS[p][k], "correct": RIGHT[p][k]}
                for p, k in EACH] for name in ("gpt-4o", "llama")}
    ))  # fmt: skip


@shape(PLAIN)
def answers_in_a_list_of_objects(folder):
    (folder / "all.json").write_text(json.dumps([
        {"problem": QUESTION[p], "gold": GOLD[p], "attempts": [
            {"attempt": k, "reasoning": LONG, "answer": ANSWERS[p][k], "output_tokens": 30 + k,
             "correct": RIGHT[p][k]} for k in range(2)]} for p in range(3)
    ]))  # fmt: skip


@shape(PLAIN)
def a_sample_id_that_repeats_the_problem(folder):
    lines(folder / "dump.jsonl", [
        {"index": 2 * p + k, "group_id": p, "sample_id": p, "prediction": TEXTS[p][k] + " " + LONG,
         "extracted_prediction": ANSWERS[p][k], "usage": {"output_tokens": 30 + k},
         "score": {"acc": float(RIGHT[p][k])}} for p, k in EACH
    ])  # fmt: skip


@shape(PLAIN)
def boxes_without_texts(folder):
    lines(folder / "dump.jsonl", [
        {"problem_id": p, "attempt": k, "boxed": ANSWERS[p][k], "completion_tokens": 30 + k,
         "correct": RIGHT[p][k]} for p, k in EACH
    ])  # fmt: skip


@shape(PLAIN)
def a_folder_for_each_problem(folder):
    for p, k in EACH:
        lines(folder / "out" / f"problem_{p}" / f"attempt_{k}.json", [
            {"response": TEXTS[p][k], "tokens": 30 + k, "correct": RIGHT[p][k]}
        ])  # fmt: skip


@shape((12, 2, 3, 2, 12, 12, 12, 8))
def stages_of_a_training(folder):
    for step in (10, 20):
        lines(folder / "val" / f"{step}.jsonl", [
            {"input": QUESTION[p], "output": TEXTS[p][k], "score": float(RIGHT[p][k]),
             "step": step} for p, k in EACH
        ])  # fmt: skip


@shape((3, 1, 3, 1, 3, 3, 3, 2))
def a_long_prediction_is_a_text(folder):
    (folder / "gsm8k.json").write_text(json.dumps(
        {str(p): {"origin_prompt": QUESTION[p], "prediction": 6 * LONG + TEXTS[p][0],
                  "gold": GOLD[p]} for p in range(3)}, indent=1,
    ))  # fmt: skip


@shape((3, 1, 3, 1, 3, 3, 3, 2))
def columns_in_capitals(folder):
    rows(folder / "gpqa.csv", [
        {"Question id": p, "Question": QUESTION[p], "Correct answer": GOLD[p],
         "Model answer": ANSWERS[p][0], "Correct": RIGHT[p][0], "Model response": TEXTS[p][0],
         "Answer Refused": False} for p in range(3)
    ])  # fmt: skip


@shape(PLAIN)
def reasoning_beside_the_content(folder):
    lines(folder / "dump.jsonl", [
        {"id": p, "sample_id": k, "reasoning_content": LONG * 3, "correct": RIGHT[p][k],
         "content": f"So \\boxed{{{ANSWERS[p][k]}}}"} for p, k in EACH
    ])  # fmt: skip


@shape((6, 1, 3, 2, 6, 0, 6, 4))
def statuses_that_are_labels(folder):
    (folder / "m_eval_results.json").write_text(json.dumps({"date": "2026", "eval": {
        f"HumanEval/{p}": [{"task_id": f"HumanEval/{p}", "solution": f"def f(): return {k}",
                            "base_status": "pass" if RIGHT[p][k] else "fail"} for k in range(2)]
        for p in range(3)}}))  # fmt: skip


@shape(PLAIN)
def letter_grades_of_an_exported_table(folder):
    rows(folder / "samples.csv", [
        {"model": "m", "task_name": "aime", "id": f"p{p}", "epoch": k, "output": TEXTS[p][k],
         "output_tokens": f"{30 + k}.0", "stop_reason": "stop",
         "score_match": "C" if RIGHT[p][k] else "I"} for p, k in EACH
    ])  # fmt: skip


@shape(PLAIN)
def decimals_and_whole_numbers(folder):
    lines(folder / "dump.jsonl", [
        {"problem_id": p, "attempt": k, "pred": f"{ANSWERS[p][k]}.0", "gold": GOLD[p],
         "tokens": 30 + k} for p, k in EACH
    ])  # fmt: skip


@shape(PLAIN)
def answers_in_tags(folder):
    lines(folder / "dump.jsonl", [
        {"problem_id": p, "attempt": k, "gold": GOLD[p], "judge": {"model": "other"},
         "response": f"<think>{LONG}</think><answer>{ANSWERS[p][k]}</answer>"} for p, k in EACH
    ])  # fmt: skip


@shape((6, 1, 3, 2, 6, 6, 0, 0))
def a_batch_whose_names_share_prompts(folder):
    lines(folder / "batch.jsonl", [
        {"custom_id": f"q{p}-{k}", "error": None, "response": {"status_code": 200, "body": {
            "model": "m", "usage": {"prompt_tokens": 9 + p, "completion_tokens": 30 + k},
            "choices": [{"index": 0, "finish_reason": "stop",
                         "message": {"content": TEXTS[p][k]}}]}}} for p, k in EACH
    ])  # fmt: skip


@shape(PLAIN)
def numbers_that_the_log_lacks(folder):
    lines(folder / "chat.jsonl", [
        {"prompt_id": f"q{p}", "correct": RIGHT[p][k], "response": {
            "object": "chat.completion", "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop",
                         "message": {"content": TEXTS[p][k]}}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 30 + k}}} for p, k in EACH
    ])  # fmt: skip


@shape("response_1 and response_2 are attempts side by side")
def attempts_side_by_side(folder):
    rows(folder / "wide.csv", [
        {"id": p, "question": QUESTION[p], "response_1": TEXTS[p][0], "response_2": TEXTS[p][1]}
        for p in range(3)
    ])  # fmt: skip


@shape("responses holds lists that are written as text")
def lists_in_cells(folder):
    rows(folder / "lists.csv", [
        {"id": p, "question": QUESTION[p], "responses": json.dumps(TEXTS[p])} for p in range(3)
    ])  # fmt: skip


@shape("holds log-likelihoods of choices: nothing was generated")
def lm_eval_choices(folder):
    lines(folder / "samples_arc_2026-11-15T23-39-23.641421.jsonl", [
        {"doc_id": p, "doc": {}, "target": "0", "resps": [[[-3.1, False]], [[-4.2, False]]],
         "filtered_resps": [[-3.1, False], [-4.2, False]], "acc": 1.0} for p in range(3)
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


def several_choices(p):
    """A chat completion of two choices, whose usage is their sum."""
    return {
        "custom_id": f"p{p}", "model": "m",
        "choices": [{"index": k, "finish_reason": "stop", "message": {"content": TEXTS[p][k]}}
                    for k in range(2)],
        "usage": {"prompt_tokens": 9, "completion_tokens": 70 + p,
                  "completion_tokens_details": {"reasoning_tokens": 90}},
    }  # fmt: skip


@shape((6, 1, 3, 2, 6, 6, 0, 0))
def a_usage_of_several_choices(folder):
    lines(folder / "n.jsonl", map(several_choices, range(3)))


def test_no_sum_is_proposed_where_tokens_were_counted(tmp_path):
    lines(tmp_path / "n.jsonl", [{"object": "chat.completion", **several_choices(0)}])
    shown = told(tmp_path, "describe", "n.jsonl")[0]
    assert "warns: reasoning_not_counted in 2 of 2\n" in shown


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


@shape("is a Git LFS pointer")
def an_lfs_pointer(folder):
    (folder / "dump.jsonl").write_text("version https://git-lfs.github.com/spec/v1\noid x\n")


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
    command = shlex.split(told(tmp_path, "describe", "table.tsv")[0].splitlines()[1])
    told(tmp_path, *command[1:])
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
        ("a.json", b'[["a", "b"], ["c"]]', "is a list of values or lists without names"),
        ("a.yaml", b"prompt: hi\n- a\n", "holds neither JSON, nor CSV, nor Parquet"),
        ("a.json", b'{"resolved_ids": ["a"], "total": 1}', "give it as --labels FILE"),
    ],
)
def test_what_holds_no_records_is_named(tmp_path, name, content, expected):
    (tmp_path / name).write_bytes(content)
    assert expected in refusal(tmp_path, name)


@pytest.mark.parametrize("name", every_other(SHAPES))
def test_what_describe_prints_loads_with_the_right_numbers(tmp_path, loads, name):
    build, expected = SHAPES[name]
    build(tmp_path)
    (source,) = [path.name for path in tmp_path.iterdir() if not path.name.startswith("results_")]
    if isinstance(expected, str):
        verdict = refusal(tmp_path, source)
        assert expected in verdict, verdict
        return
    shown = told(tmp_path, "describe", source)[0].splitlines()
    assert len(shown) <= 20 and max(map(len, ["", *shown[2:]])) <= 100, "\n".join(shown)
    assert shown[0].startswith("this loads"), "\n".join(shown)
    command = shlex.split(shown[1])
    assert command[:3] == ["budget-audit", "load", source]
    # The same files under the same options are not loaded twice.
    assert "it was tried before" in told(tmp_path, *command[1:], status=2)[1]
    (*_, (reading, held)), (asked,) = loads
    assert asked == reading
    assert held == expected, "\n".join(shown)


def test_known_scores_are_proposed_and_never_where_they_may_be_the_label(tmp_path):
    scores_of_known_names(tmp_path)
    command = shlex.split(told(tmp_path, "describe", "dump.jsonl")[0].splitlines()[1])
    mapped = [word for word in command if word.startswith("score_")]
    assert mapped == ["score_reward=reward", "score_prm=prm_scores[last]"]
    a_reward_that_may_be_the_label(tmp_path)
    shown = told(tmp_path, "describe", "dump.jsonl")[0].splitlines()
    assert shown[0].startswith("this loads, but the label was guessed from column reward")
    assert "score_" not in shown[1]


def test_several_kinds_of_files_share_twenty_lines(tmp_path):
    reasoning_beside_the_content(tmp_path / "a")
    vllm_dump(tmp_path / "b")
    shown = told(tmp_path, "describe", "a", "b")[0].splitlines()
    assert len(shown) <= 20
    commands = [line for line in shown if line.startswith("  budget-audit load ")]
    assert len(commands) == 2
    for number, command in enumerate(commands):
        told(tmp_path, *shlex.split(command)[1:], "--db", f"{number}.duckdb")


def test_a_number_may_name_an_archive(tmp_path):
    lines(tmp_path / "dump.jsonl", [
        {"problem_id": p, "attempt": k, "response": TEXTS[p][k], "correct": RIGHT[p][k],
         "temperature": 0.5 * k, "tokens": 9, "finish_reason": "stop"} for p, k in EACH
    ])  # fmt: skip
    told(tmp_path, "load", "dump.jsonl", "--map", "archive=temperature", "--competition", "c")
    assert counts(tmp_path)[:4] == (6, 2, 3, 1)


@pytest.mark.parametrize("path", sorted(FORMATS.glob("*[!n]")), ids=lambda path: path.name)
def test_what_describe_prints_of_the_logs_of_tools_loads(tmp_path, loads, path):
    shown = told(tmp_path, "describe", path)[0].splitlines()
    assert shown[0].startswith(("this loads", "this does not load, because ")), shown
    commands = [line for line in shown if line.startswith("  budget-audit load ")]
    assert len(commands) == shown[0].startswith("this loads")
    for command in commands:
        assert "it was tried before" in told(tmp_path, *shlex.split(command)[1:], status=2)[1]
        (*_, (reading, _)), (asked,) = loads
        assert asked == reading


def refusal(folder, source):
    """The verdict on what does not load: in what is described, or where it cannot be read."""
    from click.testing import CliRunner

    from audit.cli import main

    done = CliRunner().invoke(main, ["describe", str(folder / source)])
    assert done.exit_code in (0, 2) and "Traceback" not in done.output, done.output
    if done.exit_code == 2:
        assert done.stderr.count("\n") == 1
        return done.stderr
    first = done.output.splitlines()[0]
    assert first.startswith("this does not load, because "), done.output
    assert "budget-audit load" not in done.output
    return first


@pytest.mark.parametrize("name", ["finish_reason", "ending"])
@pytest.mark.parametrize("reasons", [["length"], ["length"] * 3])
def test_finish_reasons_of_another_number_than_the_attempts_stand_for_none(tmp_path, name, reasons):
    rows = [
        {"id": p, "responses": TEXTS[p], "token_counts": [30, 31], "scores": RIGHT[p],
         name: reasons} for p in range(3)
    ]  # fmt: skip
    lines(tmp_path / "dump.jsonl", rows)
    assert f"{name}.* holds finish reasons, but not one for each" in refusal(tmp_path, "dump.jsonl")
    _, error = told(tmp_path, "load", "dump.jsonl", status=2)
    assert ("--finish-reason stop" in error) == (name == "ending")


def test_where_to_stop_is_no_finish_reason(tmp_path):
    rows = [
        {"id": p, "responses": TEXTS[p], "token_counts": [30, 31], "scores": RIGHT[p],
         "sampling": {"until": ["endoftext"]}} for p in range(3)
    ]  # fmt: skip
    lines(tmp_path / "dump.jsonl", rows)
    shown = told(tmp_path, "describe", "dump.jsonl")[0].splitlines()
    assert shown[0].startswith("this loads, but by a guess: every attempt counts as completed")
