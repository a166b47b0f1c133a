"""The selects of the README of sources: each loads the shape that it is for."""

import json
import re

import duckdb
import pytest

import audit
from tests.support.command import ROOT
from tests.support.logs import lines

BLOCKS = re.findall(
    r"```sql\n(-- ([\w ]+).*?)```", (ROOT / "audit/sources/README.md").read_text(), re.DOTALL
)
# A format has a title, and a test of its own.
SELECTS = {name.strip(): text for text, name in BLOCKS if "-- title:" not in text}
# Two problems of two attempts: 30, 31, 40 and 41 tokens, and the diagonal is right.
EACH = [(p, k, 30 + 10 * p + k, p == k) for p in range(2) for k in range(2)]


def rows(make):
    """Return a row for each attempt."""
    return [make(*attempt) for attempt in EACH]


def plain(p, k, tokens, right):
    """Return a row with names that several shapes share."""
    return {"model": "m", "task": f"t{p}", "trial": k, "tokens": tokens, "passed": right}


MESSAGES = [
    {"agent": "m", "task": f"t{p}", "reward": int(right), "messages": [
        {"role": "user", "content": "do", "usage": None},
        {"role": "assistant", "content": "x", "usage": {"input": 9, "output": tokens - 10}},
        {"role": "assistant", "content": "y", "usage": {"input": 19, "output": 10}}]}
    for p, k, tokens, right in EACH if k == 0
]  # fmt: skip
SHAPES = {
    "run table": [rows(lambda p, k, tokens, right: {
        "model": "m", "suite": "s", "task": f"t{p}", "trial": k, "tokens_out": tokens, "cents": 25,
        "wall_ms": 1500, "error": None, "outcome": "passed" if right else "failed"})],
    "parallel lists": [[{
        "model": "m", "id": p, "responses": ["a", "b"], "token_counts": [30 + 10 * p, 31 + 10 * p],
        "scores": [int(p == 0), int(p == 1)]} for p in range(2)]],
    "meta and results": [{"meta": {"model": "m", "suite": "s"},
                          "results": rows(lambda *a: plain(*a) | {"stop": "stop"})}],
    "keyed by problem": [{f"t{p}": {"tokens": tokens, "answer": "4", "ok": right}
                          for p, k, tokens, right in EACH if k == 0}],
    "raw responses": [rows(lambda p, k, tokens, right: {
        "problem": p, "try": k, "is_right": right, "response": {
            "model": "m", "usage": {"prompt_tokens": 9, "completion_tokens": tokens},
            "choices": [{"finish_reason": "stop", "message": {"content": "x"}}]}})],
    "header beside records": [{"model": "m", "suite": "s"}, rows(plain)],
    "several arms": [rows(lambda p, k, tokens, right: {
        "model": "m", "strategy": "cot", "problem": p, "started": k, "tokens": tokens,
        "passed": right})],
    "costs in parts": [rows(lambda p, k, tokens, right: {
        "problem": p, "try": k, "answer_tokens": tokens - 5, "thinking_tokens": 5,
        "latency_ms": 1500, "truncated": False, "answer": "4", "grade": "CI"[not right]})],
    "labels by join": [rows(plain), "task,run,passed\n" + "".join(
        f"t{p},{k},{right}\n" for p, k, _, right in EACH)],
    "nested messages": [MESSAGES],
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_a_select_of_the_readme_loads_its_shape(tmp_path, name):
    paths = []
    for number, content in enumerate(SHAPES[name]):
        path = tmp_path / f"{number}.{'csv' if isinstance(content, str) else 'json'}"
        if isinstance(content, list):
            joined = name == "labels by join"
            lines(path, [
                {key: value for key, value in row.items() if not (joined and key == "passed")}
                for row in content
            ])  # fmt: skip
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        paths.append(path)
    con = duckdb.connect()
    audit.load(con, paths, sql=SELECTS[name], answer="none")
    found = con.execute(
        "select question_id, seed, completion_tokens, correct from attempts "
        "inner join labels using (archive, competition, question_id, seed) order by all"
    ).fetchall()
    whole = len(found) == 4
    assert found == [attempt for attempt in EACH if whole or attempt[1] == 0]
    if name in ("run table", "costs in parts"):
        assert con.execute("select distinct seconds from attempts").fetchall() == [(1.5,)]


def test_every_select_of_the_readme_has_a_shape():
    assert set(SELECTS) == set(SHAPES) and len(SHAPES) == 10
