"""Logs of other tools: each loads to what it records, or is refused and says what settles it."""

import csv
import gzip
import json
import random
import re
import shutil
import zipfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit.answers import normalize
from audit.errors import AuditError
from audit.load import load as loading
from audit.load import staging
from audit.load.describe import describe
from audit.load.load import load
from audit.load.provenance import answer_note, note_fact
from audit.options import Reading
from audit.sources import containers, readers
from audit.sources import formats as declared
from audit.sources.canonical import COLUMNS
from audit.sources.files import find_files
from audit.sources.formats import inspect_log
from audit.sources.zips import DEFLATED, STORED, ZSTD
from tests.support.command import run_inside as run
from tests.support.logs import FORMATS, dense, expected, lines, members, refusal, samples, write_zip

SAMPLES = next(path.name for path in FORMATS.glob("samples_*.jsonl"))
RESULTS = next(path.name for path in FORMATS.glob("results_*.json"))
NAMED = {"archive": "m", "competition": "c"}
GRADED = {"grade": "references"}
REFERENCED = GRADED | {"references": str(FORMATS / "references.jsonl")}
# Normalized, 0.75 is not \frac{3}{4}: a comparison with references labels this attempt wrong.
EQUAL_BY_VALUE = (2, 1)
LENGTH = {(1, 4), (2, 4)}


def recorded(**changed):
    """What expected.json says of each attempt, by problem and slot, with what a tool loses."""
    names = sorted({attempt["problem_id"] for attempt in expected()})
    return {
        (names.index(attempt["problem_id"]), attempt["attempt"]): {
            "answer": normalize(attempt["boxed"]) if attempt["boxed"] else None,
            "completion_tokens": attempt["completion_tokens"],
            "finish_reason": attempt["finish"],
            "correct": attempt["correct"],
        }
        for attempt in expected()
    } | changed


def loaded(con):
    """The attempts and labels of a database, by problem and slot."""
    rows = con.execute(
        """
        select question_id, slot, answer, completion_tokens, finish_reason, correct
        from attempts inner join labels using (archive, competition, question_id, seed)
        """
    ).fetchall()
    names = ("answer", "completion_tokens", "finish_reason", "correct")
    return {row[:2]: dict(zip(names, row[2:], strict=True)) for row in rows}


def without(attempts, *names):
    return {
        key: {name: value for name, value in attempt.items() if name not in names}
        for key, attempt in attempts.items()
    }


def graded(attempts):
    """Attempts as `--grade references` labels them."""
    return attempts | {EQUAL_BY_VALUE: attempts[EQUAL_BY_VALUE] | {"correct": False}}


def labels(con):
    return con.execute(
        "select competition, question_id, name from problem_names order by all"
    ).fetchall()


# Inspect


def eval_log(path, change=lambda sample: sample, method=ZSTD, drop=(), name="{id}_epoch_{epoch}"):
    """The zstd log again, each sample changed."""
    content = members(FORMATS / "inspect_zstd.eval")
    changed = []
    for member, data in content.items():
        if member.startswith("samples/"):
            sample = change(json.loads(data))
            member, data = f"samples/{name.format(**sample)}.json", dense(sample)
        if member not in drop:
            changed.append((member, data))
    return write_zip(path, changed, method)


def json_log(path, indent=2):
    """The zstd log as one JSON document."""
    content = members(FORMATS / "inspect_zstd.eval")
    document = json.loads(content["header.json"])
    document["samples"] = list(samples(FORMATS / "inspect_zstd.eval"))
    path.write_text(json.dumps(document, indent=indent))
    return path


def test_inspect_logs_load_to_what_they_record(con, tmp_path):
    made = [
        FORMATS / "inspect_zstd.eval",
        FORMATS / "inspect_deflate.eval",
        json_log(tmp_path / "indented.json"),
        json_log(tmp_path / "dense.json", indent=None),
        eval_log(tmp_path / "stored.eval", method=STORED),
        eval_log(tmp_path / "deflated.eval", method=DEFLATED),
    ]
    for path in made:
        load(con, [str(path)], replace=True)
        assert loaded(con) == recorded(), path.name
        found = con.execute(
            "select distinct archive, competition, prompt_tokens, format, question_id, name "
            "from attempts inner join sources using (archive) "
            "inner join problem_names using (competition, question_id) order by question_id"
        ).fetchall()
        names = ["p1", "p2", "p3", "p4"]
        assert found == [
            ("mockllm/model", "boxed_math", 20, "inspect", at, name)
            for at, name in enumerate(names)
        ]
    ((logprob,),) = con.execute("select min(mean_logprob) from attempts").fetchall()
    assert logprob == pytest.approx(-0.2, abs=0.01)


def test_content_decides_and_not_the_file_name(con, tmp_path):
    shutil.copy(FORMATS / "inspect_zstd.eval", tmp_path / "misnamed.csv")
    shutil.copy(FORMATS / "flat.jsonl", tmp_path / "misnamed.eval")
    json_log(tmp_path / "misnamed.jsonl")
    load(con, [str(tmp_path / "misnamed.csv")])
    load(con, [str(tmp_path / "misnamed.jsonl")], archive="json")
    load(con, [str(tmp_path / "misnamed.eval")], **NAMED, **GRADED)
    found = con.execute("select archive, format from sources order by all").fetchall()
    assert found == [("json", "inspect"), ("m", "jsonl"), ("mockllm/model", "inspect")]


def test_a_killed_inspect_run_is_read_from_its_journal_and_samples(con, tmp_path):
    killed = eval_log(
        tmp_path / "killed.eval",
        drop=("header.json", "summaries.json", "reductions.json"),
        name="{uuid}_nothing_to_read_here",
    )
    assert "header.json" not in members(killed)
    load(con, [str(killed)])
    assert loaded(con) == recorded()


def test_a_log_with_no_sample_yet_holds_no_rows(con, tmp_path):
    start = members(FORMATS / "inspect_zstd.eval")["_journal/start.json"]
    path = write_zip(tmp_path / "begun.eval", [("_journal/start.json", start)])
    assert refusal(con, path).startswith("begun.eval: holds no rows")


def limited(sample):
    """A sample whose last call went over Inspect's token limit: paid for, and dropped."""
    if sample["output"]["usage"]["output_tokens"] < 400:
        return sample
    (call,) = [event for event in sample["events"] if event["event"] == "model"]
    text = call["output"].pop("completion")
    call["output"]["choices"][0]["message"]["content"][1]["text"] = "attachment://abc"
    grader = {"event": "model", "model": "grader", "output": {"choices": [{"x": 1}]}}
    return sample | {
        "output": {"model": "mockllm/model", "choices": [], "completion": ""},
        "events": [*sample["events"], grader],
        "attachments": {"abc": text},
        "limit": {"type": "token", "limit": 400.0},
        "scores": {"boxed": {"value": "I", "answer": ""}},
    }


def test_a_sample_over_a_token_limit_keeps_cost_and_text_and_counts_as_cut_off(con, tmp_path):
    path = eval_log(tmp_path / "limited.eval", limited)
    summary = load(con, [str(path)])
    cut = {(2, 0), (2, 2), *LENGTH}
    over = recorded()
    for key in cut:
        over[key] |= {"finish_reason": "length", "correct": False}
    assert loaded(con) == over
    assert [note.split(": ")[1].split(" and ")[0] for note in summary.notes] == [
        "4 samples hit a limit"
    ]
    texts = con.execute(
        "select text from texts inner join attempts using (archive, competition, question_id, seed)"
        " where finish_reason = 'length' and answer is not null"
    ).fetchall()
    assert len(texts) == 2 and all(text.startswith("Let me think") for (text,) in texts)
    # The last call itself had ended: a user may count it, and has it graded with its answer.
    options = {"mapping": {"finish_reason": "output.choices.0.stop_reason"}, **GRADED}
    load(con, [str(path)], replace=True, **options)
    assert loaded(con) == graded(recorded())


def test_other_limits_and_errors_are_not_completed(con, tmp_path):
    def ended(sample):
        if sample["id"] == "p1" and sample["epoch"] == 1:
            return sample | {"limit": {"type": "time", "limit": 60.0}}
        if sample["id"] == "p1" and sample["epoch"] == 2:
            return sample | {"error": {"message": "x"}, "scores": None}
        if sample["id"] == "p1" and sample["epoch"] == 3:
            nothing = {"model_usage": {}, "output": {"choices": []}, "events": []}
            return sample | nothing | {"error": {"message": "x"}, "scores": None}
        return sample

    summary = load(con, [str(eval_log(tmp_path / "ended.eval", ended))])
    rows = con.execute(
        "select seed, finish_reason, eligible, correct from attempts inner join labels "
        "using (archive, competition, question_id, seed) where question_id = 0 order by seed"
    ).fetchall()
    assert rows[:3] == [
        (1, "time limit", False, True),
        (2, "error", False, False),
        (4, "stop", True, True),
    ]
    assert any("1 samples ended before any call: left out" in note for note in summary.notes)


def agent(sample):
    """A run of an agent: its last call stops for a tool, and tools take time between the calls."""
    (call,) = [event for event in sample["events"] if event["event"] == "model"]
    usage = call["output"]["usage"]
    total = {"input_tokens": 2 * usage["input_tokens"], "output_tokens": 2 * usage["output_tokens"]}
    call["output"]["choices"][0]["stop_reason"] = "tool_calls"
    changed = sample | {
        "events": [call | {"working_start": start} for start in (1.0, 5.0)],
        "output": call["output"],
        "model_usage": {"mockllm/model": total},
        "working_time": 9.5,
        "scores": {"includes": {"value": "C", "answer": sample["output"]["completion"]}},
    }
    if sample["epoch"] == 1:
        return changed | {"limit": {"type": "message", "limit": 8.0}}
    if sample["epoch"] == 2:
        return changed | {"scores": None}
    return changed


def test_a_scored_agent_without_limit_or_error_is_finished(con, tmp_path):
    path = eval_log(tmp_path / "agent.eval", agent)
    summary = load(con, [str(path)], unlabelled="wrong")
    assert not any("spent more" in note for note in summary.notes)
    found = "select seed, finish_reason, count(*) from attempts group by all order by all"
    reasons = {1: "message limit", 2: "tool_calls"}
    assert con.execute(found).fetchall() == [(s, reasons.get(s, "stop"), 4) for s in range(1, 6)]
    # A step takes until the next call begins; the whole completion is no extracted answer.
    assert con.execute("select step, seconds, count(*) from steps group by all order by 1"). \
        fetchall() == [(1, 4.0, 20), (2, 4.5, 20)]  # fmt: skip
    assert con.execute("select count(archive_answer) from attempts").fetchall() == [(0,)]


def test_a_limit_is_never_proposed_as_finished(tmp_path):
    def stopped(sample):
        return sample | {"limit": {"type": "message", "limit": 8.0}}

    eval_log(tmp_path / "a.eval", stopped)
    shown = describe([str(tmp_path / "a.eval")])
    assert "does not load" in shown.splitlines()[0] and "--finished 'message" not in shown


def test_tokens_are_the_evaluated_models_and_not_the_graders(con, tmp_path):
    def also_graded(sample):
        usage = {"openai/gpt-4.1": {"input_tokens": 9, "output_tokens": 9999}}
        return sample | {"model_usage": usage | sample["model_usage"]}

    load(con, [str(eval_log(tmp_path / "graded.eval", also_graded))])
    assert loaded(con) == recorded()


def test_a_sample_of_several_calls_costs_all_of_them_and_that_is_told(con, tmp_path):
    def longer(sample):
        usage = {name: dict(counts) for name, counts in sample["model_usage"].items()}
        usage["mockllm/model"]["output_tokens"] += 1000
        return sample | {"model_usage": usage}

    path = eval_log(tmp_path / "calls.eval", longer)
    (note,) = load(con, [str(path)]).notes
    assert "20 samples spent more than their last call did" in note
    assert all(attempt["completion_tokens"] > 1000 for attempt in loaded(con).values())
    option = {"completion_tokens": "output.usage.output_tokens"}
    assert "--map completion_tokens=output.usage.output_tokens" in note
    load(con, [str(path)], mapping=option, replace=True)
    assert loaded(con) == recorded()


def test_a_log_without_model_usage_takes_the_usage_of_the_output(con, tmp_path):
    load(con, [str(eval_log(tmp_path / "a.eval", lambda sample: sample | {"model_usage": {}}))])
    assert loaded(con) == recorded()


def test_several_scorers_are_refused_until_one_is_named(con, tmp_path):
    def twice(sample):
        (score,) = sample["scores"].values()
        number = {"value": float(score["value"] == "C"), "answer": "0"}
        return sample | {"scores": {"first.scorer": number, "second": {"value": {"all": "P"}}}}

    path = eval_log(tmp_path / "two.eval", twice)
    line = refusal(con, path)
    assert "missing column correct" in line and "--map correct=scores.NAME.value" in line
    load(con, [str(path)], mapping={"correct": "scores.first.scorer.value"})
    assert loaded(con) == recorded()
    # Half a point is no label, and that is told.
    mapping = {"correct": "scores.second.value.all"}
    summary = load(con, [str(path)], mapping=mapping, replace=True)
    assert con.execute("select count(correct) from labels").fetchone() == (0,)
    assert "two.eval: 20 samples are scored P (partial), which is no label" in summary.notes


def test_a_box_in_the_reasoning_is_no_answer(con, tmp_path):
    def reasoned(sample):
        reasoning, _ = sample["output"]["choices"][0]["message"]["content"]
        reasoning["reasoning"] += r"\boxed{99}"
        del sample["output"]["completion"]
        return sample

    load(con, [str(eval_log(tmp_path / "reasoned.eval", reasoned))])
    assert loaded(con) == recorded()


@pytest.mark.parametrize(
    "disguise",
    [
        {"metadata": {"a": 1, "events": [{"model_usage": {}}], "model_usage": {}}},
        {"store": {"a": [{"b": 1, "events": [1], "model_usage": 2}]}},
        {"attachments": {"a": [], "model_usage": {}}},
        {"metadata": {"a": '],"model_usage":{},"events":["'}},
        {"uuid": ',"events":['},
    ],
)
def test_events_are_never_cut_in_the_middle_of_something_else(disguise):
    (sample, *_) = samples(FORMATS / "inspect_zstd.eval")
    sample |= disguise
    found = inspect_log._parse_without_events(dense(sample)) or sample
    sample.pop("events")
    found.pop("events", None)
    assert found == sample


# lm-evaluation-harness


def test_lm_eval_lacks_tokens_finish_reason_and_labels_and_says_what_settles_it(con, tmp_path):
    line = refusal(con, FORMATS / SAMPLES)
    assert "missing columns completion_tokens, finish_reason; it has doc_id, " in line
    for option in ("--count-tokens", "--finish-reason stop"):
        assert option in line
    settled = {"count_tokens": "o200k_base", "finish_reason": "stop", **GRADED}
    summary = load(con, [str(FORMATS / SAMPLES)], **settled)
    lost = ("completion_tokens", "finish_reason")
    assert without(loaded(con), *lost) == without(graded(recorded()), *lost)
    found = con.execute("select distinct archive, competition from attempts").fetchall()
    assert found == [("qdpv68r5", "boxed_math")]
    assert any("8 lines repeat a document for another filter" in note for note in summary.notes)
    assert note_fact(con, "tokens") == "completion tokens counted with o200k_base"
    assert con.execute("select min(completion_tokens) > 10 from attempts").fetchone() == (True,)


def test_lm_eval_labels_each_repeat_where_the_task_grades_them_all(con, tmp_path):
    rows = [json.loads(line) for line in (FORMATS / SAMPLES).open()]
    for row in rows:
        row["exact_matches"] = [at % 2 for at in range(len(row["resps"][0]))]
        row["exact_match"] = 1
    lines(tmp_path / SAMPLES, rows)
    options = {"archive": "m", "finish_reason": "stop", "count_tokens": "o200k_base"}
    load(con, [str(tmp_path / SAMPLES)], **options)
    found = "select seed, bool_and(correct), count(*) from labels group by all order by all"
    assert con.execute(found).fetchall() == [(s, s % 2 == 1, 4) for s in range(5)]
    rows[0]["exact_matches"].pop()
    lines(tmp_path / SAMPLES, rows)
    assert "one item for each attempt" in refusal(con, tmp_path / SAMPLES, **options)


def test_lm_eval_without_its_results_needs_an_archive(con, tmp_path):
    shutil.copy(FORMATS / SAMPLES, tmp_path / SAMPLES)
    assert "missing columns archive, completion_tokens" in refusal(con, tmp_path / SAMPLES)
    shutil.copy(FORMATS / RESULTS, tmp_path / RESULTS)
    # In a folder, the results are no log.
    assert "missing columns completion_tokens" in refusal(con, tmp_path)


def test_lm_eval_filters_with_other_responses_are_refused(con, tmp_path):
    records = [json.loads(line) for line in (FORMATS / SAMPLES).read_text().splitlines()]
    records[-1]["resps"][0][0] += "!"
    path = lines(tmp_path / "samples.jsonl", records)
    assert "samples.jsonl: row 12: doc_id 3 occurs with other responses" in refusal(con, path)


# lighteval


def test_lighteval_lacks_finish_reason_and_labels_and_says_what_settles_it(con, tmp_path):
    folder = tmp_path / "details" / "org" / "model" / "2026-11-15T23-47-00.801566"
    folder.mkdir(parents=True)
    path = folder / "details_boxed_math|0_2026-11-15T23-47-00.801566.parquet"
    shutil.copy(FORMATS / "lighteval.parquet", path)
    line = refusal(con, tmp_path)
    assert "missing column finish_reason; it has doc.query, " in line
    assert "--finish-reason stop" in line
    load(con, [str(tmp_path)], finish_reason="stop", **GRADED)
    assert without(loaded(con), "finish_reason") == without(graded(recorded()), "finish_reason")
    found = con.execute("select distinct archive, competition, prompt_tokens from attempts")
    assert found.fetchall() == [("org/model", "boxed_math", 20)]
    # Rows are not in the data set's order: a problem goes by its id.
    ids = [row["doc"]["id"] for row in pq.read_table(path).to_pylist()]
    assert ids != sorted(ids)
    assert "missing columns archive" in refusal(con, FORMATS / "lighteval.parquet", replace=True)


# OpenAI


def test_openai_batches_load_with_references_and_a_competition(con):
    path = FORMATS / "batch_output.jsonl"
    line = refusal(con, path)
    assert "missing column competition; " in line and "--competition NAME" in line
    load(con, [str(path)], competition="c", **REFERENCED)
    assert loaded(con) == graded(recorded())
    found = con.execute("select distinct archive, prompt_tokens, seed from attempts order by all")
    assert found.fetchall() == [("scripted", 20, seed) for seed in range(5)]
    assert [label for _, _, label in labels(con)] == ["p1", "p2", "p3", "p4"]
    assert con.execute("select count(mean_logprob) from attempts").fetchone() == (12,)


def test_openai_usage_of_several_choices_is_refused_until_tokens_are_counted(con):
    path = FORMATS / "completions_n5.jsonl"
    line = refusal(con, path, competition="c", **REFERENCED)
    assert "missing column completion_tokens; " in line
    assert "--count-tokens" in line and "all choices of a request together" in line
    load(con, [str(path)], competition="c", **REFERENCED, count_tokens="o200k_base")
    found = without(loaded(con), "completion_tokens")
    assert found == without(graded(recorded()), "completion_tokens")


def completions(logprobs):
    """The requests for five choices, with as many log-probabilities as each has tokens."""
    records = [json.loads(line) for line in (FORMATS / "completions_n5.jsonl").open()]
    for record in records:
        tokens = [
            a["completion_tokens"] for a in expected() if a["problem_id"] == record["custom_id"]
        ]
        for choice, count in zip(record["choices"], tokens, strict=True):
            choice["logprobs"] = {"content": [{"logprob": -0.5}] * logprobs(count)}
    return records


def test_openai_tokens_of_a_choice_are_its_log_probabilities(con, tmp_path):
    path = lines(tmp_path / "n5.jsonl", completions(lambda count: count))
    load(con, [str(path)], competition="c", **REFERENCED)
    assert loaded(con) == graded(recorded())
    # Fewer than usage counts in all: some tokens have none, so they do not tell.
    path = lines(tmp_path / "few.jsonl", completions(lambda count: count // 2))
    assert "missing column completion_tokens" in refusal(
        con, path, competition="c", replace=True, **REFERENCED
    )


def test_openai_tokens_are_counted_with_the_reasoning_that_was_paid_for(con, tmp_path):
    records = [json.loads(line) for line in (FORMATS / "completions_n5.jsonl").open()]
    for record in records:
        for choice in record["choices"]:
            choice["message"]["reasoning_content"] = "hmm " * (100 + choice["index"])
    path = lines(tmp_path / "n5.jsonl", records)
    load(con, [str(path)], competition="c", **REFERENCED, count_tokens="o200k_base")
    ((least,),) = con.execute("select min(completion_tokens) from attempts").fetchall()
    assert least > 100
    assert con.execute("select count(*) from texts where text like '%hmm%'").fetchone() == (0,)


def test_a_failed_request_is_left_out_and_told(con, tmp_path):
    text = (FORMATS / "batch_output.jsonl").read_text()
    failed = [
        {"custom_id": "p1#9", "response": None, "error": {"code": "expired"}},
        {
            "custom_id": "p1#8",
            "response": {"status_code": 400, "body": {"error": {}}},
            "error": None,
        },
    ]
    path = lines(tmp_path / "batch.jsonl", failed)
    path.write_text(path.read_text() + text)
    summary = load(con, [str(path)], competition="c", **REFERENCED)
    assert loaded(con) == graded(recorded())
    assert "batch.jsonl: 2 requests failed and hold no attempt: left out" in summary.notes


@pytest.mark.parametrize(
    ("name", "problem", "seed"),
    [
        ("p1#3", "p1", 3),
        ("set/p1::3", "set/p1", 3),
        ("p-1-attempt-3", "p-1", 3),
        ("p1_seed=3", "p1", 3),
        ("request-3", "request-3", 0),
        ("p1_2_3", "p1_2_3", 0),
    ],
)
def test_a_custom_id_is_split_only_where_it_says_attempt(con, tmp_path, name, problem, seed):
    record = json.loads((FORMATS / "batch_output.jsonl").open().readline()) | {"custom_id": name}
    references = lines(tmp_path / "references.jsonl", [{"id": problem, "answer": 2}])
    load(
        con,
        [str(lines(tmp_path / "a.jsonl", [record]))],
        competition="c",
        grade="references",
        references=str(references),
    )
    found = con.execute("select name, seed, correct from labels, problem_names").fetchall()
    assert found == [(problem, seed, True)]


def test_a_pattern_splits_what_nothing_else_does(con, tmp_path):
    records = [json.loads(line) for line in (FORMATS / "batch_output.jsonl").open()]
    for record in records:
        record["custom_id"] = record["custom_id"].replace("#", "-")
    path = lines(tmp_path / "a.jsonl", records)
    settled = {"competition": "c", **REFERENCED}
    assert "every problem has one attempt" in describe([str(path)], competition="c")
    asked = "does not load yet: every problem has one attempt: do these names number attempts?"
    assert describe([str(path)], **settled).startswith(asked)
    mapping = {"question_id": r"custom_id~(.+)-\d+", "seed": r"custom_id~.+-(\d+)"}
    load(con, [str(path)], mapping=mapping, **settled)
    assert loaded(con) == graded(recorded())
    for bad, message in (("custom_id~(", "not a regular expression"), ("custom_id~x", "parenthes")):
        assert message in refusal(con, path, mapping={"seed": bad}, replace=True, **settled)


# NeMo-Skills


def nemo_files(folder, **changed):
    """A file per seed, as NeMo-Skills names them."""
    folder.mkdir(parents=True)
    for seed in range(5):
        records = [
            {
                "id": attempt["problem_id"],
                "problem": "…",
                "generation": rf"… \boxed{{{attempt['boxed']}}}" if attempt["boxed"] else "…",
                "num_input_tokens": 20,
                "num_generated_tokens": attempt["completion_tokens"],
                "finish_reason": attempt["finish"],
                "predicted_answer": attempt["boxed"],
                "expected_answer": attempt["reference"],
                "symbolic_correct": attempt["correct"],
                "judgement": "Judgement: No",
                "logprobs": [-0.5, -0.25],
            }
            | changed
            for attempt in expected()
            if attempt["attempt"] == seed
        ]
        for record in records:
            for name in [name for name, value in record.items() if value is ...]:
                del record[name]
        lines(folder / f"output-rs{seed}.jsonl", records)
    return folder


def test_nemo_skills_files_load_with_the_seed_of_their_names(con, tmp_path):
    folder = nemo_files(tmp_path / "eval-results" / "aime24")
    assert "missing column archive; it has id, problem, generation" in refusal(con, folder)
    load(con, [str(folder)], archive="m")
    assert loaded(con) == recorded()
    found = con.execute("select distinct competition, prompt_tokens, mean_logprob from attempts")
    assert found.fetchall() == [("aime24", 20, -0.375)]
    shutil.move(folder / "output-rs0.jsonl", folder / "output.jsonl")
    line = refusal(con, folder / "output.jsonl", archive="n")
    assert "missing column seed" in line and "--map seed=PATH" in line


def test_nemo_skills_problems_without_an_id_go_by_their_lines(con, tmp_path):
    folder = nemo_files(tmp_path / "output", id=..., symbolic_correct=...)
    for path in folder.iterdir():
        path.write_text(path.read_text().replace("Judgement: No", "Because.\\nJudgement: yes", 1))
    load(con, [str(folder)], **NAMED)
    found = con.execute(
        "select question_id, count(*) filter (correct), count(*) from labels "
        "group by all order by all"
    ).fetchall()
    assert found == [(1, 5, 5), (2, 0, 5), (3, 0, 5), (4, 0, 5)]


# Scorio


def scorio_records(model="openai/gpt-oss-20b", **changed):
    """Nested records, as the scorio library reads them."""
    names = sorted({attempt["problem_id"] for attempt in expected()})
    for attempt in expected():
        box = rf"… \boxed{{{attempt['boxed']}}}" if attempt["boxed"] else "…"
        yield {
            "seed": 1234 + attempt["attempt"],
            "data_id": names.index(attempt["problem_id"]),
            "model": model,
            "output": {
                "finish_reason": attempt["finish"],
                "num_completion_tokens": attempt["completion_tokens"],
                "completion": box,
            },
            "tokens": {"completion_avg_logprob": -0.25, "completion_logprob_list": [-0.5, 0.0]},
            "processed_results": {
                "is_correct": int(attempt["correct"]),
                "has_box": int(attempt["boxed"] is not None),
                "extracted_answer": attempt["boxed"],
            },
            "ground_truth": attempt["reference"],
        } | changed


def test_scorio_records_load_from_json_lines_gzip_and_parquet(con, tmp_path):
    records = list(scorio_records())
    paths = [tmp_path / f"gpt-oss-20b_low_hmmt_feb25.{end}" for end in ("jsonl", "jsonl.gz")]
    lines(paths[0], records)
    paths[1].write_bytes(gzip.compress(paths[0].read_bytes()))
    paths.append(tmp_path / "gpt-oss-20b_low" / "HMMT25 February.parquet")
    paths[2].parent.mkdir()
    pq.write_table(pa.Table.from_pylist(records), paths[2])
    for path in paths:
        load(con, [str(path)], replace=True)
        assert loaded(con) == recorded(), path.name
        found = con.execute(
            "select distinct archive, competition, mean_logprob, format, min(seed) "
            "from attempts inner join sources using (archive) group by all"
        ).fetchall()
        assert found == [("gpt-oss-20b_low", "HMMT25", -0.25, "scorio", 1234)]
        assert con.execute("select count(archive_answer) from attempts").fetchone() == (18,)
        assert con.execute("select count(*) from accepted_references").fetchone() == (4,)


@pytest.mark.parametrize(
    ("path", "competition"),
    [
        ("aime24.jsonl", "AIME24"),
        ("gpt-oss-20b_high/AIME_2025/part-0.jsonl", "AIME25"),
        ("brumo25_80.jsonl", "BrUMO25"),
        ("hmmt_february_2025.jsonl", "HMMT25"),
        ("hmmt_nov_2025.jsonl", None),
        ("aime24_aime25.jsonl", None),
        ("aime2024x/records.jsonl", "AIME24"),
    ],
)
def test_a_path_names_a_competition_only_if_it_can_mean_nothing_else(
    con, tmp_path, path, competition
):
    path = tmp_path / path
    path.parent.mkdir(exist_ok=True, parents=True)
    lines(path, scorio_records())
    if competition is None:
        assert "missing column competition" in refusal(con, path)
        load(con, [str(path)], competition="HMMT25 November")
    else:
        load(con, [str(path)])
        assert con.execute("select distinct competition from attempts").fetchall() == [
            (competition,)
        ]


def test_scorio_records_may_name_configuration_and_competition_themselves(con, tmp_path):
    records = scorio_records(config="gpt-oss-20b_high", dataset="HMMT25 February")
    load(con, [str(lines(tmp_path / "aime24.jsonl", records))])
    found = con.execute("select distinct archive, competition from attempts").fetchall()
    assert found == [("gpt-oss-20b_high", "HMMT25")]


# Flat files


def flat_records():
    return [json.loads(line) for line in (FORMATS / "flat.jsonl").open()]


def test_flat_files_load_under_other_names_in_every_container(con, tmp_path):
    line = refusal(con, FORMATS / "flat.jsonl")
    assert "missing columns archive, competition; it has problem_id, sample_id" in line
    for option in ("--archive NAME", "--competition NAME"):
        assert option in line
    records = [record | record.pop("usage") for record in flat_records()]
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "flat.parquet")
    with open(tmp_path / "flat.csv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
    for path in (FORMATS / "flat.jsonl", tmp_path / "flat.parquet", tmp_path / "flat.csv"):
        load(con, [str(path)], replace=True, **NAMED, **GRADED)
        assert loaded(con) == graded(recorded()), path.name
        assert con.execute("select min(seed) from attempts").fetchone() == (1000,)
        assert con.execute("select distinct prompt_tokens from attempts").fetchall() == [(20,)]


def test_a_canonical_name_goes_before_its_aliases(con, tmp_path):
    record = {
        "archive": "a", "model": "b", "competition": "c", "dataset": "d", "question_id": 7,
        "problem_id": "p", "seed": 1, "completion_tokens": 5, "output_tokens": 6,
        "finish_reason": "stop", "text": r"\boxed{1}", "response": r"\boxed{2}", "correct": True,
        "references": ["1"], "reference": "2",
    }  # fmt: skip
    for suffix in ("jsonl", "parquet"):
        path = tmp_path / f"a.{suffix}"
        if suffix == "jsonl":
            lines(path, [record])
        else:
            pq.write_table(pa.Table.from_pylist([record]), path)
        load(con, [str(path)], replace=True)
        ((mapping,),) = con.execute("select mapping from sources").fetchall()
        assert all(column == origin for column, origin in json.loads(mapping).items())
        assert con.execute("select answer, question_id from attempts").fetchall() == [("1", 7)]


def test_paths_go_into_objects_and_lists_and_keys_with_dots(con, tmp_path):
    records = [
        {
            "run": {"name.v2": "m", "tags": ["x", "c"]},
            "out": [
                {"text": r"\boxed{1}", "stop": "stop"},
                {"text": r"\boxed{2}", "stop": "length"},
            ],
            "n": {"out": 5}, "id": 3, "k": 1, "ok": True,
        }
    ]  # fmt: skip
    mapping = {
        "archive": "run.name.v2",
        "competition": "run.tags.1",
        "question_id": "id",
        "seed": "k",
        "completion_tokens": "n.out",
        "finish_reason": "out.1.stop",
        "text": "out.1.text",
        "correct": "ok",
    }
    lines(tmp_path / "a.jsonl", records)
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.parquet"):
        load(con, [str(tmp_path / name)], mapping=mapping, replace=True, force=True)
        found = con.execute(
            "select archive, competition, question_id, seed, completion_tokens, finish_reason, "
            "answer from attempts"
        ).fetchall()
        assert found == [("m", "c", 3, 1, 5, "length", "2")]
        line = refusal(con, tmp_path / name, mapping=mapping | {"text": "out.7.text"}, replace=True)
        assert f"{name}: --map text=out.7.text: no column 'out.7.text'; it has run." in line


# Answers, labels and notes


def test_answers_by_pattern_are_the_last_match_and_normalized(con, tmp_path):
    records = [
        record | {"response": f"ANSWER: 99\nANSWER:  $ {number:,} $\nbye \\boxed{{1}}"}
        for number, record in enumerate(flat_records(), 1000)
    ]
    path = lines(tmp_path / "a.jsonl", records)
    load(con, [str(path)], answer=r"regex:ANSWER:\s*(.+)", **NAMED, **GRADED)
    found = con.execute("select answer from attempts order by question_id, seed").fetchall()
    assert [answer for (answer,) in found] == [str(1000 + at) for at in range(20)]
    assert answer_note(con) == r"answers: the last match of ANSWER:\s*(.+)"
    assert note_fact(con, "grade") == "labels: normalized answers compared with the references"
    for bad, message in (
        ("regex:(", "not a regular expression"),
        ("regex:ANSWER", "in parentheses"),
        ("last", "must be boxed, archive, none or regex:PATTERN"),
    ):
        assert message in refusal(con, path, answer=bad, **NAMED)


def test_answers_of_the_archive_are_its_own_extraction(con, tmp_path):
    records = [
        record | {"prediction": 7 if at else None} for at, record in enumerate(flat_records())
    ]
    path = lines(tmp_path / "a.jsonl", records)
    load(con, [str(path)], answer="archive", **NAMED, **GRADED)
    found = con.execute("select answer, archive_answer from attempts order by question_id, seed")
    assert found.fetchall() == [(None, None), *[("7", "7")] * 19]
    assert answer_note(con) == "answers: the archive's own extraction"
    line = refusal(con, FORMATS / "flat.jsonl", answer="archive", replace=True, **NAMED, **GRADED)
    assert "missing column archive_answer" in line


def test_a_database_holds_one_kind_of_answers(con):
    load(con, [str(FORMATS / "inspect_zstd.eval")])
    assert answer_note(con) == "answers: the last boxed answer"
    options = {"archive": "other", "answer": "archive"}
    line = refusal(con, FORMATS / "inspect_zstd.eval", **options)
    assert "archive 'mockllm/model' were read by --answer boxed" in line
    load(con, [str(FORMATS / "inspect_zstd.eval")], answer="archive", replace=True)
    load(con, [str(FORMATS / "inspect_zstd.eval")], **options)
    assert "read by --answer archive" in refusal(
        con, FORMATS / "inspect_zstd.eval", archive="third"
    )


def test_what_was_counted_or_graded_is_told_by_archive(con):
    load(con, [str(FORMATS / "inspect_zstd.eval")])
    assert (note_fact(con, "tokens"), note_fact(con, "grade")) == (None, None)
    counted = {"count_tokens": "o200k_base", "finish_reason": "stop", **GRADED}
    load(con, [str(FORMATS / SAMPLES)], archive="lm", competition="x", **counted)
    assert note_fact(con, "tokens") == "completion tokens counted with o200k_base (lm)"
    assert note_fact(con, "grade") == "labels: normalized answers compared with the references (lm)"
    load(con, [str(FORMATS / "inspect_zstd.eval")], archive="lm", competition="x", replace=True)
    assert (note_fact(con, "tokens"), note_fact(con, "grade")) == (None, None)


def test_recorded_tokens_and_finish_reasons_are_never_replaced(con):
    options = {"count_tokens": "o200k_base", "finish_reason": "stop"}
    load(con, [str(FORMATS / "inspect_zstd.eval")], **options)
    assert loaded(con) == recorded()
    assert note_fact(con, "tokens") is None


def test_a_tokenizer_that_is_not_there_is_refused_by_the_name_of_the_option(con):
    line = refusal(con, FORMATS / SAMPLES, count_tokens="nothing", finish_reason="stop", **GRADED)
    assert line.startswith("--count-tokens nothing: no such encoding")


def test_grading_needs_a_reference_for_every_attempt(con, tmp_path):
    records = flat_records()
    records[3]["reference"] = None
    line = refusal(con, lines(tmp_path / "a.jsonl", records), **NAMED, **GRADED)
    assert line == "a.jsonl: row 4, column references: --grade references needs one"
    path = tmp_path / "r.csv"
    path.write_text("competition,problem_id,answer\nd,p1,2\n")
    options = NAMED | GRADED | {"references": str(path)}
    assert "row 1, column references" in refusal(con, FORMATS / "flat.jsonl", **options)
    path.write_text("thing,answer\np1,2\n")
    line = refusal(con, FORMATS / "flat.jsonl", **options)
    assert line == "--references r.csv: no column for question_id; it has thing, answer"


# Problems that go by names


def named_problems(folder, archive, names, competition="c"):
    records = [
        flat_records()[0] | {"problem_id": name, "model": archive, "dataset": competition}
        for name in names
    ]
    return str(lines(folder / f"{archive}.jsonl", records))


def attempts_by_label(con):
    return con.execute(
        "select archive, name, count(*) from attempts inner join problem_names "
        "using (competition, question_id) inner join texts "
        "using (archive, competition, question_id, seed) inner join labels "
        "using (archive, competition, question_id, seed) inner join accepted_references "
        "using (archive, competition, question_id) group by all order by all"
    ).fetchall()


def test_names_are_numbered_in_sorted_order_whatever_is_loaded_first(tmp_path):
    one = named_problems(tmp_path, "one", ["p3", "p1", "q"])
    two = named_problems(tmp_path, "two", ["p2", "q", "a"])
    states = []
    for order in ([one, two], [two, one], [[one, two]]):
        with duckdb.connect() as con:
            for sources in order:
                load(con, [sources] if isinstance(sources, str) else sources, **GRADED)
            assert [label for _, _, label in labels(con)] == ["a", "p1", "p2", "p3", "q"]
            assert [number for _, number, _ in labels(con)] == list(range(5))
            found = attempts_by_label(con)
            assert found == [
                *[("one", name, 1) for name in ("p1", "p3", "q")],
                *[("two", name, 1) for name in ("a", "p2", "q")],
            ]
            states.append(con.execute("select * from attempts order by all").fetchall())
    assert states[0] == states[1] == states[2]


def test_names_that_nobody_uses_any_more_are_forgotten(con, tmp_path):
    load(con, [named_problems(tmp_path, "one", ["b", "c"])], **GRADED)
    load(con, [named_problems(tmp_path, "two", ["a", "c"])], **GRADED)
    load(con, [named_problems(tmp_path, "two", ["c"])], replace=True, **GRADED)
    assert labels(con) == [("c", 0, "b"), ("c", 1, "c")]
    assert attempts_by_label(con) == [("one", "b", 1), ("one", "c", 1), ("two", "c", 1)]


def test_names_that_are_all_numbers_are_those_numbers(con, tmp_path):
    load(con, [named_problems(tmp_path, "one", ["12", 3, 3.0 + 4, "0"])], **GRADED)
    found = con.execute("select question_id from attempts order by all").fetchall()
    assert found == [(0,), (3,), (7,), (12,)]
    assert labels(con) == []


def test_names_and_numbers_of_one_competition_do_not_mix(con, tmp_path):
    load(con, [named_problems(tmp_path, "one", [1, 2])], **GRADED)
    line = refusal(con, named_problems(tmp_path, "two", ["p1"]), **GRADED)
    assert "archive 'one' numbers its problems, and here they have names ('p1')" in line
    load(con, [named_problems(tmp_path, "two", ["p1"], competition="d")], **GRADED)
    assert labels(con) == [("d", 0, "p1")]


def test_a_problem_needs_a_name(con, tmp_path):
    for name, message in ((None, "found null"), ("", "must not be empty"), ([1], "found [1]")):
        line = refusal(con, named_problems(tmp_path, "one", ["a", name]), **GRADED)
        assert line.startswith("one.jsonl: row 2, column question_id (from 'problem_id'): must ")
        assert message in line


# Describe


def test_describe_tells_what_is_there_and_what_is_missing():
    told = describe([str(FORMATS / "lighteval.parquet")], all=True)
    for line in (
        "loads, if this is right: labels by comparing answers with the references",
        "  guessed: every attempt counts as completed: no finish reason is recorded",
        "counts: format lighteval",
        "  20 attempts: 1 archive, 4 problems, 5 attempts each",
        "  completion_tokens   from sql/formats/lighteval.sql",
    ):
        assert line in told.splitlines()
    settled = {"archive": "m", "finish_reason": "stop", **GRADED}
    told = describe([str(FORMATS / "lighteval.parquet")], **settled)
    assert told.startswith("loads\n") and "guessed" not in told
    assert "  120 tokens, finish reason stop, answer 2, right\n" in told


# The registry


def test_a_format_is_one_file_and_says_how_it_is_recognized():
    for name, format in declared.load_formats().items():
        columns = [c for one in format.fields if not (c := one.column).startswith("score_")]
        assert len(columns) == len(set(columns)), name
        assert set(columns) <= {*COLUMNS, declared.REASONING}
        assert set(format.absent) <= set(COLUMNS)
        assert format.recognized_by or name == "flat"


def test_a_format_can_be_forced(con):
    line = refusal(con, FORMATS / "batch_output.jsonl", format="jsonl", **NAMED)
    assert "missing columns question_id, seed" in line
    line = refusal(con, FORMATS / "flat.jsonl", format="inspect")
    assert "flat.jsonl: not a readable Inspect log" in line


README = Path(declared.__file__).parents[1] / "README.md"


def test_the_format_of_the_readme_reads_what_it_says(con, tmp_path, monkeypatch):
    written = README.read_text(encoding="utf-8")
    (block,) = re.findall(r"```sql\n(-- mine: .*?)```", written, re.DOTALL)
    path = tmp_path / "mine.sql"
    path.write_text(block)
    every = {**declared.load_formats(), "mine": declared.read_select_format(path)}
    for place in (declared, readers, loading):
        monkeypatch.setattr(place, "load_formats", lambda: every)
    tries = [
        {"cost": 7, "end": "eos", "said": r"\boxed{4}"},
        {"cost": 9, "end": "cut", "said": "so"},
    ]
    record = {"who": "m", "what": "c", "my_problem": "p", "tries": tries, "gold": "4"}
    load(con, [str(lines(tmp_path / "a.jsonl", [record]))], grade="references")
    found = con.execute(
        "select seed, completion_tokens, finish_reason, answer, correct from attempts "
        "inner join labels using (archive, competition, question_id, seed) order by seed"
    ).fetchall()
    assert found == [(0, 7, "stop", "4", True), (1, 9, "cut", None, False)]
    assert con.execute("select format from sources").fetchall() == [("mine",)]


def test_the_readme_of_sources_names_every_format_column_and_option(tmp_path):
    written = README.read_text(encoding="utf-8")
    for name in (*declared.load_formats(), *COLUMNS):
        assert f"`{name}`" in written or f"| {name} |" in written, name
    helped = run(tmp_path, "load", "--help") + run(tmp_path, "describe", "--help")
    for option in sorted(set(re.findall(r"--[a-z][a-z-]+", written))):
        assert option in helped, option


def test_a_long_first_record_is_recognized_as_well(con, tmp_path):
    records = [json.loads(line) for line in (FORMATS / "batch_output.jsonl").open()]
    records[0]["response"]["body"]["prompt"] = "x" * 2_000_000
    path = lines(tmp_path / "a.jsonl", records)
    load(con, [str(path)], competition="c", **REFERENCED)
    assert loaded(con) == graded(recorded())
    path.write_text(json.dumps(records))
    load(con, [str(path)], competition="c", replace=True, **REFERENCED)
    assert loaded(con) == graded(recorded())


def test_a_record_of_two_formats_is_refused_until_one_is_named(con, tmp_path):
    both = {**next(scorio_records()), "generation": "x", "expected_answer": "1"}
    line = refusal(con, lines(tmp_path / "a.jsonl", [both]))
    assert line == "a.jsonl: looks like nemo_skills or scorio; pass --format to say which"
    load(con, [str(tmp_path / "a.jsonl")], format="scorio", competition="c")


# Hostile input


def test_a_zip_member_beyond_the_limit_is_refused_before_it_is_expanded(con, tmp_path, monkeypatch):
    monkeypatch.setattr(containers, "LONGEST_LINE", 5000)
    assert "is larger than 0 MB" in refusal(con, FORMATS / "inspect_zstd.eval")
    path = json_log(tmp_path / "a.json")
    assert "holds a value longer than 0 MB" in refusal(con, path)


@pytest.mark.parametrize("name", ["inspect_zstd.eval", "inspect_deflate.eval"])
def test_a_damaged_inspect_log_is_refused_with_one_line(con, tmp_path, name):
    whole = (FORMATS / name).read_bytes()
    rng = random.Random(1)
    path = tmp_path / "a.eval"
    for size in (5, 100, len(whole) // 2, len(whole) - 10):
        path.write_bytes(whole[:size])
        assert refusal(con, path).startswith("a.eval: not a readable Inspect log")
    for _ in range(60):
        at = rng.randrange(len(whole) - 30)
        path.write_bytes(whole[:at] + rng.randbytes(30) + whole[at + 30 :])
        read_or_refuse(path)


def test_a_cut_off_json_log_is_refused_with_one_line(con, tmp_path):
    text = json_log(tmp_path / "whole.json").read_text()
    path = tmp_path / "a.json"
    for size in (len(text) // 3, len(text) - 5):
        path.write_text(text[:size])
        assert refusal(con, path).startswith("a.json: not a readable Inspect log")
    path.write_text(text[: len(text) // 2] + "," * 50 + text[len(text) // 2 :])
    assert refusal(con, path).startswith("a.json: ")
    zipped = gzip.compress(text.encode())
    for damaged in (zipped[:-9], zipped[:9000] + bytes(99) + zipped[9099:]):
        path.write_bytes(damaged)
        assert refusal(con, path).startswith("a.json: not a readable Inspect log")


def test_a_zip_of_something_else_is_refused(con, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        archive.writestr("word/document.xml", "<x/>")
    assert "no Inspect log is in it" in refusal(con, tmp_path / "a.eval")
    assert "which only --format inspect reads" in refusal(con, tmp_path / "a.eval", format="openai")


WRONG = (None, 7, "x", [], [None], {}, {"a": 1}, True, float("nan"), [[[]]], "attachment://none")


def wreck(rng, value):
    """A record with one thing in it turned into another."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice(list(value))
        return value | {key: wreck(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        return [*value[:at], wreck(rng, value[at]), *value[at + 1 :]]
    return rng.choice(WRONG)


def read_or_refuse(path, format=None, **options):
    """All of a load that comes before the database; what is wrong gives one line."""
    reading = Reading(format=format, **options)
    try:
        files = find_files([str(path)])
        batches = staging.read_files(staging.Staging(files, reading))
        return sum(batch.num_rows for batch in batches)
    except AuditError as error:
        assert "\n" not in str(error)
        return 0


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("batch_output.jsonl", "openai"),
        ("completions_n5.jsonl", "openai"),
        (SAMPLES, "lm_eval"),
        ("flat.jsonl", None),
    ],
)
def test_wrong_types_anywhere_in_json_lines_give_one_line_or_load(tmp_path, name, format):
    rng = random.Random(name)
    records = [json.loads(line) for line in (FORMATS / name).open()][:3]
    grading = REFERENCED if format == "openai" else GRADED
    settled = {"count_tokens": "o200k_base", "finish_reason": "stop", **NAMED, **grading}
    found = [
        read_or_refuse(
            lines(tmp_path / "a.jsonl", [wreck(rng, record) for record in records]),
            format,
            **settled,
        )
        for _ in range(40)
    ]
    assert any(found) and not all(found)


def test_wrong_types_anywhere_in_a_sample_give_one_line_or_load(tmp_path):
    rng = random.Random(7)
    start = json.loads(members(FORMATS / "inspect_zstd.eval")["_journal/start.json"])
    originals = list(samples(FORMATS / "inspect_zstd.eval"))[:2]
    found = []
    for _ in range(300):
        content = [("_journal/start.json", dense(wreck(rng, start)))]
        for number, sample in enumerate(originals):
            wrecked = wreck(rng, {**sample, "events": sample["events"][:6]})
            content.append((f"samples/{number}.json", dense(wrecked)))
        found.append(read_or_refuse(write_zip(tmp_path / "a.eval", content), **NAMED))
    assert any(found) and not all(found)
