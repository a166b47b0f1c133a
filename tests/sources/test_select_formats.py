"""Formats that are selects: each loads to what a file of its tool says."""

import json

import duckdb
import pytest

import audit
from audit.load.describe import describe


def write(path, content):
    """Write JSON lines, or a document."""
    lines = isinstance(content, list) and path.suffix == ".jsonl"
    text = "\n".join(map(json.dumps, content)) if lines else json.dumps(content)
    path.write_text(text)
    return path


def verifiers(folder):
    write(folder / "metadata.json", {"env_id": "gsm8k", "model": "qwen", "rollouts_per_example": 2})
    return write(folder / "results.jsonl", [
        {"example_id": p, "prompt": [{"role": "user", "content": "q"}],
         "completion": [{"role": "assistant", "content": f"\\boxed{{{p}}}"}], "answer": "0",
         "task": "gsm8k", "reward": float(p == k), "is_truncated": k > p,
         "is_completed": True, "timing": {"generation_ms": 1500.0},
         "token_usage": {"input_tokens": 9.0, "output_tokens": 30.0 + 10 * p + k}}
        for p in range(2) for k in range(2)
    ])  # fmt: skip


def promptfoo(folder):
    return write(folder / "results.json", {"evalId": "e", "results": {
        "prompts": [{"raw": "a"}, {"raw": "b"}], "results": [
            {"provider": {"id": "openai:m"}, "promptIdx": arm, "testIdx": p, "cost": 0.5,
             "latencyMs": 1500, "success": p == k, "error": None, "response": {
                 "output": "text", "tokenUsage": {"prompt": 9, "completion": 30 + 10 * p + k}}}
            for p in range(2) for arm in range(2) for k in range(2)]}})  # fmt: skip


def evalplus(folder):
    return write(folder / "qwen_eval_results.json", {"date": "2026", "hash": "x", "eval": {
        f"HumanEval/{p}": [
            {"task_id": f"HumanEval/{p}", "solution": "def f(): ...", "base_status": "pass",
             "plus_status": "pass" if p == k else "fail"} for k in range(2)
        ] for p in range(2)}})  # fmt: skip


def inspect_summaries(folder):
    write(folder / "header.json", {"version": 2, "eval": {"model": "m", "task": "aime"}})
    return write(folder / "summaries.json", [
        {"id": f"p{p}", "epoch": k + 1, "total_time": 1.5, "scores": {
            "match": {"value": "C" if p == k else "I"}}, "limit": "token" if k > p else None,
         "model_usage": {"grader": {"input_tokens": 1, "output_tokens": 1},
                         "m": {"input_tokens": 9, "output_tokens": 30 + 10 * p + k}}}
        for p in range(2) for k in range(2)
    ])  # fmt: skip


def terminal_bench(folder):
    write(folder / "run_metadata.json", {"model_name": "m", "dataset_name": "tb"})
    return write(folder / "results.json", {"n_resolved": 2, "accuracy": 0.5, "results": [
        {"task_id": f"t{p}", "trial_name": f"t{p}.{k}", "is_resolved": p == k,
         "failure_mode": "agent_timeout" if p + k == 1 else "unset", "total_input_tokens": 9,
         "total_output_tokens": 30 + 10 * p + k, "trial_started_at": "2026-01-01T00:00:00+00:00",
         "trial_ended_at": "2026-01-01T00:00:01.5+00:00"} for p in range(2) for k in range(2)
    ]})  # fmt: skip


# Archive, competition, problem, tokens, finish reason and label of every attempt.
def expected(archive, competition, names, *, cut=(), reason="length", tokens=True):
    return [
        (archive, competition, names.format(p), 30 + 10 * p + k if tokens else None,
         reason if (p, k) in cut else "stop", p == k)
        for p in range(2) for k in range(2)
    ]  # fmt: skip


FILES = [
    (verifiers, expected("qwen", "gsm8k", "{}", cut=[(0, 1)]), {}),
    (promptfoo, [row for arm in range(2)
                 for row in expected(f"openai:m, prompt {arm}", "c", "{}")], {"competition": "c"}),
    (evalplus, expected("a", "HumanEval", "HumanEval/{}", tokens=False),
     {"archive": "a", "finish_reason": "stop", "count_tokens": "o200k_base"}),
    (inspect_summaries, expected("m", "aime", "p{}", cut=[(0, 1)], reason="token"), {}),
    (terminal_bench, expected("m", "tb", "t{}", cut=[(0, 1), (1, 0)], reason="agent_timeout"), {}),
]  # fmt: skip


@pytest.mark.parametrize(("build", "rows", "options"), FILES, ids=lambda case: "")
def test_a_format_in_sql_loads_what_its_tool_wrote(tmp_path, build, rows, options):
    path = build(tmp_path)
    con = duckdb.connect()
    audit.load(con, path, answer="none", **options)
    found = con.execute(
        """
        select archive, competition, coalesce(name, question_id::varchar), completion_tokens,
            finish_reason, correct
        from attempts
        inner join labels using (archive, competition, question_id, seed)
        left join problem_names using (competition, question_id)
        order by archive, competition, question_id, seed
        """
    ).fetchall()
    if build is evalplus:
        found = [(*row[:3], None, *row[4:]) for row in found]
    assert found == rows
    assert con.execute("select distinct format from sources").fetchall() == [(build.__name__,)]
    assert describe([str(path)]).startswith("loads")
