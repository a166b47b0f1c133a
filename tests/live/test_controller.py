"""A controller without any framework: equal to the replay, and clear about mistakes."""

import asyncio
import json
import random
import re
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

import audit
from audit.engine.plugins import load_plugins
from audit.live import Controller
from audit.live.judge import get_judge
from audit.live.verify import verify
from tests.support.command import read_streams
from tests.support.live import ran, replay, replayed, require

README = Path(audit.__file__).parent / "live" / "README.md"
POLICIES = [plugin.name for plugin in load_plugins("policies")]
RULES = [plugin.name for plugin in load_plugins("rules")]


def banks(seed, problems, attempts):
    """Attempts of random costs, answers and ends, by problem."""
    chance = random.Random(seed)
    return {
        problem: [
            {
                "completion_tokens": chance.randint(1, 120),
                "prompt_tokens": chance.randint(1, 30),
                "boxed_answer": chance.choice(["4", "4", "4", "5", " 0,004 ", None]),
                "finish_reason": "stop" if chance.random() < 0.9 else "length",
                "correct": chance.random() < 0.5,
            }
            for _ in range(attempts)
        ]
        for problem in range(problems)
    }


def write(path, bank):
    """An unrestricted run in the canonical schema."""
    with path.open("w") as lines:
        for problem, attempts in bank.items():
            for seed, attempt in enumerate(attempts):
                key = {"archive": "live", "competition": "live", "question_id": problem}
                lines.write(json.dumps({**key, "seed": seed, **attempt}) + "\n")


def run(path, bank, budget, **settings):
    """A live run: the controller asks, and each attempt goes as far as it may."""
    for problem, attempts in bank.items():
        controller = Controller(budget, path=path, question_id=problem, **settings)
        while controller.may_launch():
            attempt = dict(attempts[controller.launched])
            answer, finished = attempt.pop("boxed_answer"), attempt.pop("finish_reason")
            tokens, limit = attempt.pop("completion_tokens"), controller.limit()
            if limit is not None and tokens > limit:
                tokens, answer, finished = limit, None, "length"
            controller.record(tokens, answer, finished, **attempt)
        yield controller


def test_live_runs_equal_the_replay(tmp_path):
    """Every rule and policy in turn: what the log says, and what the controller said itself."""
    bank = banks("rules and policies", problems=3, attempts=8)
    for attempts in bank.values():
        for attempt in attempts:
            attempt["archive_answer"] = attempt["boxed_answer"]
    write(tmp_path / "full.jsonl", bank)
    said = {}
    for rule, policy in zip(RULES, POLICIES, strict=True):
        live = tmp_path / "live" / f"{rule} {policy}.jsonl"
        live.parent.mkdir(exist_ok=True)
        said[rule, policy] = list(
            run(live, bank, 300, rule=rule, cap=8, policy=policy, archive=live.stem)
        )
    audit.load(tmp_path / "full.duckdb", tmp_path / "full.jsonl")
    audit.load(tmp_path / "live.duckdb", tmp_path / "live")
    replay(tmp_path / "full.duckdb", 8, budgets=[300], policies="all")
    replay(tmp_path / "live.duckdb", 8, budgets=[300])
    for (rule, policy), controllers in said.items():
        rows = replayed(tmp_path / "full.duckdb", "live", 300, rule, policy)
        assert rows == ran(tmp_path / "live.duckdb", f"{rule} {policy}", 300, rule)
        for controller, (_, launched, cost, answer, _) in zip(controllers, rows, strict=True):
            picked = controller.selected()
            assert (controller.launched, controller.spent) == (launched, cost)
            assert (picked.answer if picked else None) == answer


@pytest.mark.parametrize(
    "selector",
    [
        "archive_majority",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("majority", "max_logprob")),
    ],
)
def test_the_judge_has_attempts_and_votes_as_the_replay_has_them(tmp_path, selector):
    bank = banks("walked", problems=1, attempts=12)
    for number, attempt in enumerate(bank[0]):
        attempt["archive_answer"] = attempt["boxed_answer"] if number % 4 else "7"
        attempt["mean_logprob"] = [None, -0.5, -1.5, -0.25][number % 4]
    write(tmp_path / "full.jsonl", bank)
    audit.load(tmp_path / "a.duckdb", tmp_path / "full.jsonl")
    replay(tmp_path / "a.duckdb", 12, budgets=[10**6], policies="all", primary_selector=selector)
    live = tmp_path / f"{selector}.jsonl"
    (controller,) = run(live, bank, 10**6, cap=12, policy="none", selector=selector)
    judge = get_judge(10**6, "strict", 12, "completion", "decided", selector, "boxed")
    judge.find_stop(controller.attempts, 12)
    for relation in ("walked_attempts", "tallies"):
        sql = f"from {relation} order by position"
        found = judge._con.sql(sql).to_arrow_table().to_pylist()
        assert found == audit.query(tmp_path / "a.duckdb", sql).to_pylist(), relation


def test_verify_finds_a_changed_attempt_and_names_the_problems_that_lack(tmp_path):
    bank = banks("few", problems=6, attempts=6)
    write(tmp_path / "full.jsonl", bank)
    live = tmp_path / "live.jsonl"
    list(run(live, bank, 300, cap=6))
    lines = [json.loads(line) for line in live.read_text().splitlines()]
    lines[0]["completion_tokens"] += 1
    kept = [line for line in lines if line["question_id"] != 4]
    live.write_text("".join(json.dumps(line) + "\n" for line in kept))
    found = verify(live, tmp_path / "full.jsonl")
    rows = {row["problem"]: row["result"] for row in found}
    assert rows == dict.fromkeys("01235", "equal") | {"0": "different", "4": "missing"}
    assert any("lacks 1 problem: live 4; --partial" in note for note in found.notes)
    assert not any("without a label" in note for note in found.notes)
    partial = verify(live, tmp_path / "full.jsonl", partial=True)
    assert {row["problem"] for row in partial} == set("01235")


def test_a_live_run_may_abstain_where_its_next_step_would_have_been_free(tmp_path):
    steps = [{"completion_tokens": 60}, {"completion_tokens": 40}, {"completion_tokens": 0}]
    whole = {"boxed_answer": "4", "finish_reason": "stop", "completion_tokens": 100, "steps": steps}
    write(tmp_path / "full.jsonl", {0: [whole] * 2, 1: [whole] * 2})
    for problem in range(2):
        controller = Controller(100, "step", path=tmp_path / "live.jsonl", question_id=problem)
        while controller.may_launch():
            done = []
            while len(done) < 3 and controller.may_continue(done):
                done.append(steps[len(done)])
            controller.record(None, None, "length", steps=done)
    found = verify(tmp_path / "live.jsonl", tmp_path / "full.jsonl")
    assert [(row["result"], row["live_answer"], row["answer"]) for row in found] == [
        ("equal", None, "4")
    ] * 2


def test_verify_tells_a_genuine_rerun_from_the_replay(tmp_path):
    full, again = banks("first", 20, 6), banks("second", 20, 6)
    write(tmp_path / "full.jsonl", full)
    list(run(tmp_path / "live.jsonl", again, 200, cap=6))
    found = verify(tmp_path / "live.jsonl", tmp_path / "full.jsonl")
    assert {row["result"] for row in found} == {"other attempts"}
    (points,) = [note for note in found.notes if "points of accuracy" in note]
    assert "over random orders" in points and "recorded order" in found.caption
    mean, low, high = map(float, re.findall(r"-?\d+\.\d+", points))
    assert low < mean < high


@pytest.mark.slow
def test_the_command_verify_exits_one_where_runs_contradict(tmp_path):
    bank = banks("command", problems=2, attempts=4)
    write(tmp_path / "full.jsonl", bank)
    live = tmp_path / "live.jsonl"
    list(run(live, bank, 150, cap=4))
    _, err = read_streams(tmp_path, "verify", "live.jsonl", "full.jsonl")
    assert "2 of 2 problems equal" in err and "at budget 150 tokens (completion)" in err
    _, err = read_streams(
        tmp_path, "verify", "live.jsonl", "full.jsonl", "--budget", "20", status=1
    )
    assert "live.jsonl was run with budget 150: compared as if with budget 20" in err
    _, err = read_streams(tmp_path, "verify", "full.jsonl", "full.jsonl", status=2)
    assert "pass --budget" in err


@pytest.mark.slow
def test_a_larger_budget_than_the_live_one_is_warned_of(tmp_path):
    bank = banks("warned", problems=3, attempts=4)
    list(run(tmp_path / "live.jsonl", bank, 150, rule="advisory", cap=4, policy="decided"))
    db = tmp_path / "audit.duckdb"
    audit.load(db, tmp_path / "live.jsonl")
    audit.replay(db, budgets=[100, 150, 151], caps=[4], primary_cap=4, orders=2, replicates=0)
    rows = audit.table(db, "data_quality").to_pylist()
    assert "banks_uneven" not in {row["check"] for row in rows}
    # The banks end where the controller stopped, so that nothing more could be recorded.
    assert {row["count"] for row in rows if "ended_by_bank" in row["check"]} == {0}
    found = {row["check"]: row["severity"] for row in rows if "live" in row["check"]}
    assert found == {
        "beyond_live_budget_100": "ok",
        "beyond_live_budget_150": "ok",
        "beyond_live_budget_151": "warn",
        "cut_by_live_budget": "warn",
    }
    audit.replay(db, budgets=[100], unit="total")
    rows = audit.table(db, "data_quality").to_pylist()
    assert [row["severity"] for row in rows if "beyond_live" in row["check"]] == ["warn"]
    (mapping,) = audit.query(db, "select mapping from sources").to_pydict()["mapping"]
    kept = {name: value for name, value in json.loads(mapping).items() if "live" in name}
    assert kept == {
        "live_budget": "150", "live_unit": "completion", "live_rule": "advisory",
        "live_policy": "decided", "live_cap": "4", "live_selector": "majority",
        "live_answer": "boxed",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"budget": "4,096"}, "did you mean 4096?"),
        ({"budget": "many"}, "is not a number like"),
        ({"budget": 0}, "must be above 0"),
        ({"rule": "srtict"}, "did you mean 'strict'?"),
        ({"unit": "tokens"}, "no unit 'tokens'"),
        ({"policy": "lead_of_two"}, "did you mean 'lead_of_three'?"),
        ({"selector": "best"}, "no selector 'best'"),
        ({"cap": 0}, "cap: a whole number"),
        ({"answer": "none"}, "selector='first'"),
        ({"answer": "regex:("}, "not a regular expression"),
        ({"path": "/nowhere/live.jsonl"}, "cannot be written"),
        ({"budget": 1e20}, "small enough to be counted"),
        ({"question_id": "a"}, "question_id must be a whole number"),
        ({"cap": 10**6, "policy": "adaptive_consistency"}, "at most 1,000 with the policy"),
    ],
)
def test_a_mistake_is_refused_before_anything_is_launched(given, message):
    with pytest.raises(audit.AuditError, match=re.escape(message)):
        Controller(**{"budget": 1000, **given})


def test_a_policy_that_needs_attempts_to_come_is_refused_at_the_start(tmp_path):
    own = tmp_path / "last_third.sql"
    own.write_text(
        "-- last_third: stops where two thirds of the whole walk are spent.\n"
        "-- grain: walk_id, cap\n"
        "select walk_id, cap, min(position) as stop_position from (\n"
        "select *, max(cumulative_cost) over (partition by walk_id) as whole from tallies\n"
        ") cross join caps where 3 * cumulative_cost >= 2 * whole group by walk_id, cap\n"
    )
    with pytest.raises(audit.AuditError, match="reads what is not known live"):
        Controller(1000, policy=str(own))
    own.write_text("select walk_id, 1 as cap, 1 as stop_position from grades")
    with pytest.raises(audit.AuditError, match="reads grades"):
        Controller(1000, policy=str(own))
    own.write_text("select walk_id, 1 as cap from tallies")
    with pytest.raises(audit.AuditError, match="gives no column stop_position"):
        Controller(1000, policy=str(own))
    own.write_text("select walk_id, 1 as cap, 1 as stop_position from tallies where positon = 1")
    with pytest.raises(audit.AuditError, match="positon"):
        Controller(1000, policy=str(own))


@pytest.mark.parametrize(
    ("standing", "message"),
    [
        ("position * (2 * (count(*) over (partition by walk_id) % 2) - 1)", "not known live"),
        ("null::integer", "standing and candidate_id must not be null"),
        ("value_rank", "scores are not known live"),
    ],
)
def test_a_selector_that_the_replay_would_refuse_is_refused_at_the_start(
    tmp_path, standing, message
):
    own = tmp_path / "own.sql"
    scores = " inner join candidate_scores using (candidate_id)" if "rank" in standing else ""
    own.write_text(
        f"select walk_id, position, {standing} as standing, candidate_id "
        f"from walked_attempts{scores} where is_eligible"
    )
    with pytest.raises(audit.AuditError, match=message):
        Controller(1000, selector=str(own))


@pytest.mark.slow
def test_a_policy_of_ones_own_is_followed(tmp_path):
    (tmp_path / "policies").mkdir()
    own = tmp_path / "policies" / "two_attempts.sql"
    own.write_text(
        "select walk_id, cap, min(position) as stop_position from tallies cross join caps "
        "where position >= 2 group by walk_id, cap"
    )
    bank = banks("own", problems=2, attempts=5)
    write(tmp_path / "full.jsonl", bank)
    for controller in run(tmp_path / "live.jsonl", bank, 1000, cap=5, policy=str(own)):
        assert controller.launched == 2
    _, err = read_streams(tmp_path, "verify", "live.jsonl", "full.jsonl", "--policy", own)
    assert "2 of 2 problems equal" in err
    _, err = read_streams(tmp_path, "verify", "live.jsonl", "full.jsonl", status=2)
    assert "no policy 'two_attempts'" in err and "or a .sql file" in err


def launched(*given, **settings):
    """A controller whose next attempt is launched."""
    controller = Controller(*given, **settings)
    assert controller.may_launch()
    return controller


def test_an_attempt_that_cannot_be_counted_is_refused():
    with pytest.raises(audit.AuditError, match="provider must return its usage"):
        launched(1000).record(None, "4")
    with pytest.raises(audit.AuditError, match="prompt_tokens unknown"):
        launched(1000, unit="total").record(10, "4")
    with pytest.raises(audit.AuditError, match="money unknown"):
        launched(1000, unit="money").record(10, "4")
    with pytest.raises(audit.AuditError, match="not both"):
        launched(1000).record(10, "4", text="so 4")
    with pytest.raises(audit.AuditError, match="completion_tokens must be a whole number"):
        launched(1000).record(-10, "4")
    with pytest.raises(audit.AuditError, match="did you mean 'mean_logprob'"):
        launched(1000).record(10, "4", mean_logprb=-1)
    with pytest.raises(audit.AuditError, match="10, but its steps add up to 7"):
        launched(1000).record(10, "4", steps=[{"completion_tokens": 3}, {"completion_tokens": 4}])
    controller = launched(1000)
    controller.record(0, None)
    assert (controller.launched, controller.spent) == (1, 1)


def test_an_attempt_is_launched_before_it_is_recorded(tmp_path):
    controller = launched(1000, path=tmp_path / "live.jsonl")
    with pytest.raises(audit.AuditError, match="was not recorded; call record"):
        controller.may_launch()
    controller.lose()
    for refused in (controller.lose, lambda: controller.record(10, "4")):
        with pytest.raises(audit.AuditError, match="no attempt was launched"):
            refused()
    assert (tmp_path / "live.jsonl").read_text() == "" and controller.launched == 0


def test_what_was_spent_is_never_hidden():
    controller = launched(1000)
    controller.record(1600, "4")
    assert (controller.spent, controller.returned, controller.selected()) == (1600, 0, None)


def test_threads_share_a_budget():
    controller = Controller(1000, cap=100)

    def work():
        while controller.may_launch():
            time.sleep(0.001)
            controller.record(min(130, controller.limit()), "4")

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work) for _ in range(8)]:
            done.result()
    assert (controller.launched, controller.spent) == (8, 1000)


def test_tasks_share_a_budget_and_problems_run_side_by_side(monkeypatch):
    """The README's example, and several tasks at one problem."""

    async def ask(question, limit):
        await asyncio.sleep(0)
        return types.SimpleNamespace(tokens=min(300, limit), text="so \\boxed{4}", reason="stop")

    found = {"ask": ask, "questions": ["a", "b", "c"]}
    exec(readme_block("asyncio"), found)
    assert [answer.answer for answer in found["answers"]] == ["4"] * 3

    controller = Controller(1000, cap=100)

    async def work():
        while controller.may_launch():
            reply = await ask("a", controller.limit())
            controller.record(reply.tokens, text=reply.text)

    async def together():
        await asyncio.gather(work(), work(), work())

    asyncio.run(together())
    assert (controller.launched, controller.spent) == (4, 1000)


def test_a_total_budget_leaves_room_for_the_prompt():
    controller = launched(100, unit="total")
    assert controller.limit() == 100 and controller.limit(prompt_tokens=30) == 70
    controller.record(40, "4", prompt_tokens=30)
    assert (controller.limit(), controller.spent) == (1, 70)
    controller = launched(100, unit="total")
    controller.record(10, "4", prompt_tokens=20)
    assert controller.limit() == 50 and controller.limit(prompt_tokens=60) == 10
    # Of an attempt of several calls the first one says how long the next attempt's prompt is.
    controller = launched(220, unit="total")
    calls = [{"prompt_tokens": 20, "completion_tokens": tokens} for tokens in (52, 34)]
    controller.record(86, "4", prompt_tokens=40, steps=calls)
    assert controller.limit() == 220 - 126 - 20


def test_steps_are_looked_at_between_calls():
    controller = Controller(100, unit="steps", rule="strict", cap=200)
    calls = [{"completion_tokens": 5}] * 99
    assert controller.may_continue(calls) and controller.limit(calls) == 1
    assert not controller.may_continue([*calls, calls[0]])


# What the README shows


def readme_block(word):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = [block for block in blocks if word in block]
    return block


class Completions(BaseHTTPRequestHandler):
    """A server that answers as OpenAI's does: 6,000 tokens, or as many as it is let."""

    asked: ClassVar = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body["max_completion_tokens"])
        tokens = min(6000, body["max_completion_tokens"])
        is_cut = tokens < 6000
        reply = {
            "id": "1", "object": "chat.completion", "created": 1, "model": body["model"],
            "choices": [{
                "index": 0, "finish_reason": "length" if is_cut else "stop",
                "message": {"role": "assistant",
                            "content": "cut" if is_cut else "so \\boxed{4}"},
            }],
            "usage": {"prompt_tokens": 20, "completion_tokens": tokens,
                      "total_tokens": 20 + tokens},
        }  # fmt: skip
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def test_the_readme_with_the_openai_client(tmp_path, monkeypatch, capsys):
    require("openai")
    server = HTTPServer(("127.0.0.1", 0), Completions)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.chdir(tmp_path)
    Completions.asked.clear()
    try:
        exec(readme_block("OpenAI"), {})
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert Completions.asked == [16000, 10000, 4000]
    assert capsys.readouterr().out == "4 16000\n"
    assert audit.load(tmp_path / "a.duckdb", tmp_path / "live.jsonl").to_pylist() == [
        {"archive": "live", "attempts": 3, "problems": 1}
    ]


def test_the_readme_with_vllm(tmp_path, monkeypatch, capsys):
    class LLM:
        def __init__(self, model):
            pass

        def generate(self, prompts, sampling):
            assert sampling.max_tokens is None
            output = types.SimpleNamespace(
                token_ids=[0] * 1500, text="so \\boxed{4}", finish_reason="stop"
            )
            return [types.SimpleNamespace(outputs=[output], prompt_token_ids=[0] * 20)]

    module = types.ModuleType("vllm")
    module.LLM, module.SamplingParams = LLM, types.SimpleNamespace
    monkeypatch.setitem(sys.modules, "vllm", module)
    monkeypatch.chdir(tmp_path)
    exec(readme_block("vllm"), {})
    assert capsys.readouterr().out == "4 4500\n"
    assert len((tmp_path / "live.jsonl").read_text().splitlines()) == 3


@pytest.mark.slow
def test_answers_of_the_archive_are_read_as_the_live_run_read_them(tmp_path):
    bank = banks("archive", problems=3, attempts=5)
    for attempts in bank.values():
        for attempt in attempts:
            attempt["archive_answer"] = attempt["boxed_answer"]
    write(tmp_path / "full.jsonl", bank)
    for attempts in bank.values():
        for attempt in attempts:
            del attempt["archive_answer"]
    list(run(tmp_path / "live.jsonl", bank, 200, cap=5, answer="archive", policy="decided"))
    assert '"boxed_answer"' not in (tmp_path / "live.jsonl").read_text()
    found = audit.verify(tmp_path / "live.jsonl", tmp_path / "full.jsonl")
    assert found.caption.startswith("3 of 3 problems equal")
    assert any(found.to_pydict()["answer"])


@pytest.mark.slow
def test_tasks_without_an_answer_equal_the_replay(tmp_path):
    bank = banks("none", problems=3, attempts=5)
    for attempts in bank.values():
        for attempt in attempts:
            attempt["boxed_answer"] = None
    write(tmp_path / "full.jsonl", bank)
    live = tmp_path / "live.jsonl"
    list(run(live, bank, 200, cap=5, answer="none", selector="last", rule="advisory"))
    found = audit.verify(live, tmp_path / "full.jsonl")
    assert found.caption.startswith("3 of 3 problems equal")
    assert any(found.to_pydict()["correct"])
