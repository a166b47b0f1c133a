"""Logs as they really are: half scored, partly cached, run twice, of another endpoint."""

import json

import duckdb
import pytest

from audit.errors import AuditError
from audit.load.describe import describe
from audit.load.load import load
from tests.support.logs import FORMATS, dense, expected, lines, members, refusal, write_zip

MODEL = "mockllm/model"


def eval_log(path, change=lambda sample: sample, header=lambda header: header):
    """The zstd log again, each sample changed, or left out where nothing is left of it."""
    changed = []
    for member, data in members(FORMATS / "inspect_zstd.eval").items():
        if member.startswith("samples/"):
            sample = change(json.loads(data))
            if sample is not None:
                changed.append((member, dense(sample)))
        else:
            whole = json.loads(data)
            if isinstance(whole, dict) and "eval" in whole:
                whole = header(whole)
            changed.append((member, dense(whole)))
    return write_zip(path, changed)


def is_first(sample):
    return sample["id"] == "p1" and sample["epoch"] == 1


def count(con, what="*"):
    return con.execute(f"select count({what}) from attempts inner join labels "
                       "using (archive, competition, question_id, seed)").fetchone()[0]  # fmt: skip


# Inspect


@pytest.mark.parametrize(
    ("scores", "note"),
    [
        ({"boxed": {"value": "P", "answer": "2"}}, "1 samples are scored P (partial)"),
        (None, "1 samples have no score"),
        ({}, "1 samples have no score"),
    ],
)
def test_a_sample_without_a_label_names_the_option_and_is_told(con, tmp_path, scores, note):
    path = eval_log(tmp_path / "a.eval", lambda s: s | {"scores": scores} if is_first(s) else s)
    line = refusal(con, path)
    assert "1 of its 20 attempts have no label" in line
    assert "--unlabelled wrong" in line and "--unlabelled drop" in line
    summary = load(con, [str(path)], unlabelled="wrong")
    assert any(f"a.eval: {note}" in one for one in summary.notes)
    assert count(con, "correct") == 20
    right = sum(attempt["correct"] for attempt in expected())
    assert count(con, "case when correct then 1 end") == right - 1
    load(con, [str(path)], unlabelled="drop", replace=True)
    assert count(con) == 15


def test_a_killed_log_says_how_much_of_it_is_here(con, tmp_path):
    kept = {("p1", epoch) for epoch in range(1, 6)} | {("p2", 1)}
    path = eval_log(
        tmp_path / "a.eval",
        lambda sample: sample if (sample["id"], sample["epoch"]) in kept else None,
        lambda header: header | {"status": "started"},
    )
    summary = load(con, [str(path)])
    note = "a.eval: 6 of 20 samples are here: the run was killed, failed or still goes on"
    assert note in summary.notes and count(con) == 6
    assert f"  note: {note}"[:99] in describe([str(path)])
    whole = load(con, [str(FORMATS / "inspect_zstd.eval")], replace=True)
    assert not any("are here" in note for note in whole.notes)


def test_invalidated_samples_are_left_out_and_told(con, tmp_path):
    marked = {"timestamp": "2026-01-01T00:00:00Z", "author": "a", "reason": "leak"}
    path = eval_log(
        tmp_path / "a.eval",
        lambda sample: sample | {"invalidation": marked} if is_first(sample) else sample,
    )
    summary = load(con, [str(path)])
    assert "a.eval: 1 samples were invalidated: left out" in summary.notes and count(con) == 19
    path = eval_log(tmp_path / "b.eval", lambda sample: sample | {"invalidation": marked})
    with pytest.raises(AuditError, match="holds no rows to load: 20 samples were invalidated"):
        load(con, [str(path)])


@pytest.mark.parametrize("reason", ["max_tokens", "model_length"])
def test_a_sample_that_reached_a_length_is_cut_off(con, tmp_path, reason):
    def cut(sample):
        (choice,) = sample["output"]["choices"]
        output = sample["output"] | {"choices": [choice | {"stop_reason": reason}]}
        return sample | {"output": output} if is_first(sample) else sample

    load(con, [str(eval_log(tmp_path / "a.eval", cut))])
    query = "select finish_reason from attempts order by question_id, seed limit 1"
    assert con.execute(query).fetchall() == [("length",)]


def with_calls(sample, counts, model=MODEL, cached=0):
    """A sample that made several calls, each with its usage and time."""
    usages = [
        {"input_tokens": read, "output_tokens": wrote, "total_tokens": read + wrote,
         "input_tokens_cache_read": cached} for read, wrote in counts
    ]  # fmt: skip
    events = [
        {
            "event": "model",
            "model": model,
            "timestamp": "2026-01-01T00:00:00Z",
            "output": sample["output"] | {"usage": usage, "time": 1.5 + at},
        }
        for at, usage in enumerate(usages)
    ]
    total = {name: sum(usage[name] for usage in usages) for name in usages[0]}
    output = sample["output"] | {"usage": usages[-1]}
    return sample | {"events": events, "output": output, "model_usage": {model: total}}


def test_several_calls_of_a_sample_are_its_steps(con, tmp_path):
    calls = [(10, 20), (40, 5), (50, 7)]
    path = eval_log(
        tmp_path / "a.eval",
        lambda s: with_calls(s, calls, cached=4) if is_first(s) else s,
    )
    load(con, [str(path)])
    steps = "select step, prompt_tokens, cached_tokens, completion_tokens, seconds from steps"
    assert con.execute(f"{steps} order by step").fetchall() == [
        (1, 10, 4, 20, 1.5), (2, 40, 4, 5, 2.5), (3, 50, 4, 7, 3.5)
    ]  # fmt: skip
    query = "select prompt_tokens, cached_tokens, completion_tokens from attempts where slot = 0"
    assert (100, 12, 32) in con.execute(query).fetchall()


def test_calls_that_do_not_add_up_are_no_steps(con, tmp_path):
    def change(sample):
        if not is_first(sample):
            return sample
        sample = with_calls(sample, [(10, 20), (40, 5)])
        sample["model_usage"][MODEL]["output_tokens"] = 99
        return sample

    summary = load(con, [str(eval_log(tmp_path / "a.eval", change))])
    assert any("do not add up to their usage" in note for note in summary.notes)
    assert con.execute("select count(*) from steps").fetchone() == (0,)


def test_a_sample_without_any_usage_is_left_out_and_told(con, tmp_path):
    def unused(sample):
        if not is_first(sample):
            return sample
        return sample | {"model_usage": {}, "output": sample["output"] | {"usage": None}}

    summary = load(con, [str(eval_log(tmp_path / "a.eval", unused))])
    assert count(con) == 19
    assert any(
        "a.eval: 1 samples record no token usage and have no cost: left out" in note
        for note in summary.notes
    )


def cached(total, model=MODEL):
    """Samples of which 96 prompt tokens were fresh, 186 written to a cache, 41,000 read there."""

    def change(sample):
        usage = {
            "input_tokens": 96,
            "output_tokens": 100,
            "input_tokens_cache_write": 186,
            "input_tokens_cache_read": 41_000,
        }
        usage |= {} if total is None else {"total_tokens": total}
        return sample | {
            "model_usage": {model: usage},
            "output": sample["output"] | {"usage": usage},
        }

    return change


def named(model):
    return lambda header: header | {"eval": header["eval"] | {"model": model}}


@pytest.mark.parametrize(
    ("model", "total", "prompt"),
    [
        ("anthropic/claude-sonnet-4", 41_382, 41_282),
        ("anthropic/claude-sonnet-4", None, 41_282),
        ("bedrock/anthropic.claude-3", None, 41_282),
        # What a total has once, it has: this provider's input tokens are all of them.
        ("openai/gpt-4o", 196, 96),
        ("openai/gpt-4o", None, 96),
        ("google/gemini", 41_382, 41_282),
    ],
)
def test_cached_prompt_tokens_are_added_where_they_are_counted_apart(
    con, tmp_path, model, total, prompt
):
    path = eval_log(tmp_path / "a.eval", cached(total, model), named(model))
    summary = load(con, [str(path)])
    found = con.execute("select distinct prompt_tokens, completion_tokens from attempts")
    assert found.fetchall() == [(prompt, 100)]
    told = [note for note in summary.notes if "in a cache: those tokens are added" in note]
    assert len(told) == (prompt != 96)


def test_two_runs_of_a_task_are_asked_about_and_told_apart_or_appended(con, tmp_path):
    paths = [eval_log(tmp_path / "1.eval"), eval_log(tmp_path / "2.eval")]
    line = refusal(con, *paths)
    assert "an attempt may occur only once; if these are two runs, pass --runs separate" in line
    assert "or --runs append" in line
    load(con, [str(path) for path in paths], runs="separate")
    found = con.execute(
        "select archive, count(*), min(seed), max(seed) from attempts group by all order by all"
    ).fetchall()
    assert found == [(MODEL, 20, 1, 5), (f"{MODEL} run 2", 20, 1, 5)]
    with duckdb.connect() as other:
        load(other, [str(path) for path in paths], runs="append")
        found = other.execute(
            "select archive, question_id, count(*), list(seed order by seed) "
            "from attempts group by all order by all"
        ).fetchall()
        assert found == [(MODEL, at, 10, list(range(1, 11))) for at in range(4)]
        # The second run's attempts come after the first's, in their own order.
        costs = other.execute(
            "select list(completion_tokens order by seed) from attempts where question_id = 0"
        ).fetchone()[0]
        assert costs[:5] == costs[5:]


def test_a_file_that_repeats_its_own_attempt_is_refused_with_any_runs(con, tmp_path):
    path = eval_log(tmp_path / "a.eval", lambda s: s | {"epoch": 1} if s["epoch"] == 2 else s)
    for runs in (None, "separate", "append"):
        line = refusal(con, path, runs=runs)
        assert line.endswith("an attempt may occur only once")
    assert "must be separate or append" in refusal(con, path, runs="both")


def test_tasks_of_one_model_stay_one_archive_when_runs_are_separate(con, tmp_path):
    other = lambda header: header | {"eval": header["eval"] | {"task": "other"}}  # noqa: E731
    paths = [eval_log(tmp_path / "1.eval"), eval_log(tmp_path / "2.eval", header=other)]
    load(con, [str(path) for path in paths], runs="separate")
    assert con.execute("select distinct archive from attempts").fetchall() == [(MODEL,)]


# OpenAI


def responses(status="completed", reason=None):
    """A batch of /v1/responses: an attempt of expected.json on each line."""
    for attempt in expected():
        box = rf"so \boxed{{{attempt['boxed']}}}" if attempt["boxed"] else "so"
        length = attempt["finish"] == "length"
        yield {
            "id": "batch_req_1",
            "custom_id": f"{attempt['problem_id']}#{attempt['attempt']}",
            "response": {
                "status_code": 200,
                "request_id": "r",
                "body": {
                    "id": "resp_1",
                    "object": "response",
                    "status": "incomplete" if length else status,
                    "incomplete_details": {"reason": "max_output_tokens"} if length else reason,
                    "model": "gpt-5",
                    "output": [
                        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
                        {
                            "type": "message",
                            "role": "assistant",
                            "content": [
                                {"type": "output_text", "text": "Well, "},
                                {"type": "output_text", "text": box},
                            ],
                        },
                    ],
                    "usage": {
                        "input_tokens": 20,
                        "output_tokens": attempt["completion_tokens"],
                        "output_tokens_details": {"reasoning_tokens": 1},
                        "total_tokens": 20 + attempt["completion_tokens"],
                    },
                },
            },
            "error": None,
        }


def test_batches_of_responses_are_read(con, tmp_path):
    path = lines(tmp_path / "a.jsonl", responses())
    load(con, [str(path)], competition="c")
    found = con.execute(
        "select question_id, seed, completion_tokens, finish_reason, answer is null, prompt_tokens "
        "from attempts order by all"
    ).fetchall()
    assert found == sorted(
        (int(a["problem_id"][1]) - 1, a["attempt"], a["completion_tokens"], a["finish"],
         a["boxed"] is None, 20)
        for a in expected()
    )  # fmt: skip
    assert con.execute("select distinct archive from attempts").fetchall() == [("gpt-5",)]
    assert con.execute("select count(*) from texts where text like 'Well, so%'").fetchone() == (20,)


def test_a_failed_response_is_left_out_and_a_filtered_one_is_not_finished(con, tmp_path):
    records = list(responses())
    records[0]["response"]["body"] |= {"status": "failed", "output": []}
    records[1]["response"]["body"] |= {
        "status": "incomplete",
        "incomplete_details": {"reason": "content_filter"},
    }
    summary = load(con, [str(lines(tmp_path / "a.jsonl", records))], competition="c")
    assert summary.rows == 19
    assert "a.jsonl: 1 requests failed and hold no attempt: left out" in summary.notes
    reasons = dict(
        con.execute("select finish_reason, count(*) from attempts group by all").fetchall()
    )
    assert reasons == {"stop": 16, "length": 2, "content_filter": 1}


def test_finish_reasons_of_servers_are_mapped_and_those_of_flat_files_are_not(con, tmp_path):
    records = [json.loads(line) for line in (FORMATS / "batch_output.jsonl").open()]
    for at, record in enumerate(records):
        choice = record["response"]["body"]["choices"][0]
        if choice["finish_reason"] == "stop":
            choice["finish_reason"] = ("eos_token", "stop_sequence", "stop")[at % 3]
    load(con, [str(lines(tmp_path / "a.jsonl", records))], competition="c")
    kinds = con.execute("select distinct finish_reason from attempts order by all").fetchall()
    assert kinds == [("length",), ("stop",)]
    flat = [json.loads(line) for line in (FORMATS / "flat.jsonl").open()]
    for record in flat:
        record["finish_reason"] = "eos_token"
    path = lines(tmp_path / "flat.jsonl", flat)
    assert "--finished" in refusal(con, path, archive="m", competition="d")
    load(con, [str(path)], archive="m", competition="d", finished=["eos_token"])


def test_names_that_number_attempts_are_asked_about_and_numbers_are_not(tmp_path):
    records = [json.loads(line) for line in (FORMATS / "batch_output.jsonl").open()]
    for at, record in enumerate(records):
        record["custom_id"] = str(at)
    assert "number attempts" not in describe([str(lines(tmp_path / "a.jsonl", records))])
    for at, record in enumerate(records):
        record["custom_id"] = f"p{at // 5}-{at % 5}"
    assert "number attempts" in describe([str(lines(tmp_path / "a.jsonl", records))])
    for at, record in enumerate(records):
        record["custom_id"] = f"request-{at}"
    assert "number attempts" not in describe([str(lines(tmp_path / "a.jsonl", records))])


def facts(con):
    columns = "archive, completion_tokens, prompt_tokens, cached_tokens, finish_reason, answer"
    query = f"select name, seed, {columns} from attempts inner join problem_names"
    return con.execute(f"{query} using (competition, question_id) order by name, seed").fetchall()


def test_messages_of_anthropic_are_read_part_by_part(con, tmp_path):
    def message(answer, reason):
        parts = [{"type": "thinking", "thinking": r"\boxed{9}"},
                 {"type": "text", "text": rf"So \boxed{{{answer}}}"}]  # fmt: skip
        usage = {"input_tokens": 50, "output_tokens": 70, "cache_read_input_tokens": 30,
                 "cache_creation_input_tokens": 20}  # fmt: skip
        return {"type": "message", "model": "claude", "content": parts, "stop_reason": reason,
                "usage": usage}  # fmt: skip

    records = [
        {"custom_id": "q#0", "result": {"type": "succeeded", "message": message(1, "end_turn")}},
        {"custom_id": "q#1", "result": {"type": "succeeded", "message": message(2, "max_tokens")}},
        {"custom_id": "q#2", "result": {"type": "errored", "error": {"type": "invalid"}}},
    ]
    path = tmp_path / "batch.jsonl"
    lines(path, records)
    summary = load(con, [str(path)], competition="c")
    assert facts(con) == [
        ("q", 0, "claude", 70, 100, 30, "stop", "1"),
        ("q", 1, "claude", 70, 100, 30, "length", "2"),
    ]
    assert any("1 requests failed" in note for note in summary.notes)
    # A message beside fields of one's own.
    record = {"problem_id": "q", "attempt": 3, "response": message(1, "stop_sequence")}
    path.write_text(json.dumps(record))
    load(con, [str(path)], competition="c", replace=True)
    assert facts(con) == [("q", 3, "claude", 70, 100, 30, "stop", "1")]


def test_responses_of_gemini_cost_what_was_thought_too(con, tmp_path):
    def response(answers):
        parts = [[{"text": "hm", "thought": True}, {"text": rf"\boxed{{{a}}}"}] for a in answers]
        usage = {"promptTokenCount": 5, "candidatesTokenCount": 7, "thoughtsTokenCount": 100,
                 "totalTokenCount": 112}  # fmt: skip
        candidates = [{"content": {"parts": p}, "finishReason": "STOP"} for p in parts]
        return {"candidates": candidates, "usageMetadata": usage, "modelVersion": "gemini"}

    path = tmp_path / "batch.jsonl"
    path.write_text(json.dumps({"key": "q", "response": response([1])}))
    load(con, [str(path)], competition="c")
    assert facts(con) == [("q", 0, "gemini", 107, 5, None, "stop", "1")]
    path.write_text(json.dumps({"key": "q", "response": response([1, 2])}))
    with pytest.raises(AuditError, match="all candidates of a request together"):
        load(con, [str(path)], competition="c", replace=True)


def test_answers_of_livebench_are_labelled_by_their_judgments(con, tmp_path):
    answers = [{"question_id": f"q{at}", "answer_id": "x", "model_id": "m", "tstamp": 1.5,
                "choices": [{"index": 0, "turns": ["first", rf"\boxed{{{at}}}"]}],
                "total_output_tokens": 30 + at} for at in range(2)]  # fmt: skip
    scores = [{"question_id": f"q{at}", "model": "m", "score": float(at)} for at in range(2)]
    for name, records in (("m.jsonl", answers), ("judged.jsonl", scores)):
        path = tmp_path / name
        lines(path, records)
    options = {"competition": "c", "finish_reason": "stop", "labels": str(path)}
    load(con, [str(tmp_path / "m.jsonl")], **options)
    assert [(row[3], row[7]) for row in facts(con)] == [(30, "0"), (31, "1")]
    labels = con.execute("select correct from labels order by question_id").fetchall()
    assert labels == [(False,), (True,)]
