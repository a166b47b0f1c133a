"""Runs of agents: one attempt made of steps, in the shapes that their tools write."""

import json

import duckdb
import pytest

from audit.errors import AuditError
from audit.load.load import load
from tests.support.command import read_streams
from tests.support.command import run_inside as run
from tests.support.logs import lines

# Two problems: what each call read (of it from a cache), wrote and cost.
CALLS = {
    "django__django-1": [(100, 0, 20, 0.5), (150, 100, 30, 0.25)],
    "django__django-2": [(100, 0, 10, 0.125)],
}
RIGHT = {"django__django-1": True, "django__django-2": False}


def loaded(con):
    return con.execute(
        """
        select name, completion_tokens, prompt_tokens, finish_reason, correct
        from attempts inner join labels using (archive, competition, question_id, seed)
        inner join problem_names using (competition, question_id)
        order by name
        """
    ).fetchall()


def usage(prompt, cached, completion):
    return {"prompt_tokens": prompt, "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": cached}}  # fmt: skip


def mini(folder):
    """mini-swe-agent: a folder for each instance, a file in it."""
    for name, calls in CALLS.items():
        messages = [{"role": "system", "content": "You fix bugs."}]
        for prompt, cached, completion, cost in calls:
            messages += [
                {"role": "assistant", "content": "Let me look.\n```bash\nls\n```", "extra": {
                    "response": {"model": "acme/m",
                                 "usage": usage(prompt, cached, completion) | {"cost": cost}}}},
                {"role": "user", "content": "<output>setup.py</output>"},
            ]  # fmt: skip
        run = {
            "info": {"exit_status": "Submitted" if len(calls) == 2 else "LimitsExceeded",
                     "submission": f"diff --git a/{name}", "mini_version": "1.14.0",
                     "model_stats": {"instance_cost": 0.75, "api_calls": len(calls)},
                     "config": {"model": {"model_name": "@" * (len(calls) == 2) + "acme/m"}}},
            "messages": messages, "trajectory_format": "mini-swe-agent-1",
        }  # fmt: skip
        (folder / name).mkdir(parents=True)
        (folder / name / f"{name}.traj.json").write_text(json.dumps(run, indent=2))
    patches = {name: {"instance_id": name, "model_patch": "diff"} for name in CALLS}
    (folder / "preds.json").write_text(json.dumps(patches))
    return folder


REPORTS = {
    "a report of SWE-bench": {"total_instances": 2, "resolved_ids": ["django__django-1"]},
    "a list of who is right": ["django__django-1"],
    "true or false for each": RIGHT,
    "an object for each": {name: {"resolved": right} for name, right in RIGHT.items()},
}


@pytest.mark.parametrize("report", REPORTS)
def test_labels_of_runs_come_from_a_results_file(con, tmp_path, report):
    (tmp_path / "report.json").write_text(json.dumps(REPORTS[report]))
    options = {"labels": str(tmp_path / "report.json"), "competition": "swe", "force": True}
    load(con, [str(mini(tmp_path / "runs"))], **options)
    assert [row[4] for row in loaded(con)] == [True, False]


def test_labels_may_be_rows_and_silence_is_no_label(con, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("instance_id,resolved\ndjango__django-1,true\ndjango__django-2,false\n")
    source = str(mini(tmp_path / "runs"))
    options = {"labels": str(path), "competition": "swe", "force": True}
    load(con, [source], **options)
    assert [row[4] for row in loaded(con)] == [True, False]
    path.write_text("instance_id,resolved\ndjango__django-1,true\n")
    with pytest.raises(AuditError, match="1 of its 2 attempts have no label"):
        load(con, [source], replace=True, **options)
    for text, message in (
        ("instance_id,grade\nx,1\n", "labels.csv: no column for correct; it has instance_id"),
        ("instance_id,resolved\nx,1\nx,0\n", "labels.csv: row 2: 'x' is labelled twice"),
    ):
        path.write_text(text)
        with pytest.raises(AuditError, match=message):
            load(con, [source], replace=True, **options)
    with pytest.raises(AuditError, match="is a folder; name one file"):
        load(con, [source], replace=True, **options | {"labels": str(tmp_path)})


def test_mini_swe_agent(con, tmp_path):
    load(con, [str(mini(tmp_path / "runs"))], competition="swe", force=True)
    assert loaded(con) == [
        ("django__django-1", 50, 250, "stop", None),
        ("django__django-2", 10, 100, "LimitsExceeded", None),
    ]
    steps = "select name, step, prompt_tokens, cached_tokens, completion_tokens, money from steps"
    assert con.execute(
        f"{steps} inner join problem_names using (competition, question_id) order by name, step"
    ).fetchall() == [
        ("django__django-1", 1, 100, 0, 20, 0.5),
        ("django__django-1", 2, 150, 100, 30, 0.25),
        ("django__django-2", 1, 100, 0, 10, 0.125),
    ]
    assert con.execute("select distinct archive, format from sources").fetchall() == [
        ("acme/m", "mini_swe_agent")
    ]
    assert con.execute("select distinct money from attempts").fetchall() == [(0.75,)]
    # An exit word is known, and no reason to warn.
    query = """select count from quality_counts where "check" = 'unknown_finish_reasons'"""
    assert con.execute(query).fetchall() == [(0,)]


def swe_agent(folder):
    folder.mkdir()
    for name, calls in CALLS.items():
        run = {
            "environment": "swe_main",
            "trajectory": [{"response": "I look at the file.", "action": "ls\n", "thought": "",
                            "observation": "setup.py", "execution_time": 0.5}] * len(calls),
            "history": [],
            "info": {"exit_status": "submitted" if len(calls) == 2 else "exit_cost",
                     "submission": "diff --git", "model_stats": {
                         "instance_cost": sum(call[3] for call in calls),
                         "tokens_sent": sum(call[0] for call in calls),
                         "tokens_received": sum(call[2] for call in calls),
                         "api_calls": len(calls)}},
            "replay_config": json.dumps({"agent": {"model": {"name": "acme/m"}}}),
        }  # fmt: skip
        (folder / f"{name}.traj").write_text(json.dumps(run, indent=2))
    return folder


def test_swe_agent(con, tmp_path):
    load(con, [str(swe_agent(tmp_path / "runs"))], competition="swe", force=True)
    assert loaded(con) == [
        ("django__django-1", 50, 250, "stop", None),
        ("django__django-2", 10, 100, "exit_cost", None),
    ]
    assert con.execute("select money from attempts order by money").fetchall() == [
        (0.125,), (0.75,)
    ]  # fmt: skip


def atif(folder):
    for name, calls in CALLS.items():
        steps = [{"step_id": 1, "source": "user", "message": "Fix it."}]
        steps += [
            {"step_id": 2 + at, "source": "agent", "message": "I look.", "metrics": {
                "prompt_tokens": prompt, "cached_tokens": cached, "completion_tokens": completion,
                "cost_usd": cost}}
            for at, (prompt, cached, completion, cost) in enumerate(calls)
        ]  # fmt: skip
        trial = folder / f"{name}__x1"
        (trial / "agent").mkdir(parents=True)
        (trial / "agent" / "trajectory.json").write_text(json.dumps(
            {"schema_version": "ATIF-v1.4", "session_id": f"s-{name}", "steps": steps,
             "agent": {"name": "terminus", "version": "2", "model_name": "acme/m"},
             "final_metrics": {"total_steps": len(steps)}}, indent=1,
        ))  # fmt: skip
        (trial / "result.json").write_text(json.dumps(
            {"task_name": name, "trial_name": trial.name, "source": "swe",
             "verifier_result": {"rewards": {"reward": float(RIGHT[name])}}}
        ))  # fmt: skip
    return folder


def test_atif_with_the_result_above_it(con, tmp_path):
    load(con, [str(atif(tmp_path / "job"))], finish_reason="stop", force=True)
    assert loaded(con) == [
        ("django__django-1", 50, 250, "stop", True),
        ("django__django-2", 10, 100, "stop", False),
    ]


def test_every_eval_ever(con, tmp_path):
    rows = [
        {"schema_version": "0.2.1", "evaluation_id": "e", "model_id": "acme/m",
         "evaluation_name": "gsm", "sample_id": f"s{at // 2}", "interaction_type": "single_turn",
         "input": {"raw": "1 + 1?", "reference": ["2"]},
         "output": {"raw": [f"It is \\boxed{{{at}}}"]}, "messages": None,
         "answer_attribution": [{"turn_idx": 0, "source": "output.raw", "extracted_value": str(at),
                                 "extraction_method": "regex", "is_terminal": True}],
         "evaluation": {"score": float(at == 2), "is_correct": at == 2},
         "token_usage": {"input_tokens": 30, "output_tokens": 5 + at, "total_tokens": 35 + at,
                         "input_tokens_cache_read": 10},
         "performance": {"latency_ms": 1500 + at}} for at in range(4)
    ]  # fmt: skip
    path = tmp_path / "instances.jsonl"
    lines(path, rows)
    load(con, [str(path)], finish_reason="stop")
    assert con.execute(
        "select name, seed, completion_tokens, answer, archive_answer, correct from attempts "
        "inner join labels using (archive, competition, question_id, seed) "
        "inner join problem_names using (competition, question_id) order by name, seed"
    ).fetchall() == [
        ("s0", 0, 5, "0", "0", False), ("s0", 1, 6, "1", "1", False),
        ("s1", 0, 7, "2", "2", True), ("s1", 1, 8, "3", "3", False),
    ]  # fmt: skip
    query = "select distinct cached_tokens, min(seconds), max(seconds) from attempts group by all"
    assert con.execute(query).fetchall() == [(10, 1.5, 1.503)]


def test_tau_bench(con, tmp_path):
    runs = [
        {"task_id": at // 2, "trial": at % 2, "reward": float(at == 1), "info": {"task": {}},
         "traj": [{"role": "system", "content": "policy"}, {"role": "user", "content": "Hi"},
                  {"role": "assistant", "content": "How can I help?" + " Well." * at},
                  {"role": "tool", "content": "{}"},
                  {"role": "assistant", "content": None, "tool_calls": []}]} for at in range(4)
    ]  # fmt: skip
    path = tmp_path / "gpt-4o-retail.json"
    path.write_text(json.dumps(runs, indent=1))
    options = {"finish_reason": "stop", "count_tokens": "o200k_base", "force": True}
    load(con, [str(path)], archive="m", competition="tau", **options)
    rows = con.execute("select question_id, seed, completion_tokens from attempts order by all")
    assert rows.fetchall() == [(0, 0, 5), (0, 1, 7), (1, 0, 9), (1, 1, 11)]


def tau2(folder):
    """tau2-bench: one document; the user's model is paid too, and is not the agent."""
    runs = []
    for trial, (name, calls) in enumerate(CALLS.items()):
        messages = [{"role": "assistant", "content": "Hi!", "cost": 0.0, "usage": None}]
        for prompt, _, completion, cost in calls:
            user = {"role": "user", "content": "please", "cost": 9.0, "usage": usage(9, 0, 9)}
            agent = {"role": "assistant", "content": "done", "cost": cost,
                     "usage": {"prompt_tokens": prompt, "completion_tokens": completion},
                     "generation_time_seconds": 1.5}  # fmt: skip
            messages += [user, agent]
        runs.append({
            "task_id": name, "trial": trial, "messages": messages, "agent_cost": 0.75,
            "termination_reason": "user_stop" if RIGHT[name] else "max_steps",
            "reward_info": {"reward": float(RIGHT[name])},
        })  # fmt: skip
    info = {"agent_info": {"llm": "acme/m"}, "user_info": {"llm": "other"},
            "environment_info": {"domain_name": "airline", "policy": "Be kind."}}  # fmt: skip
    folder.mkdir()
    document = {"timestamp": "t", "info": info, "tasks": [{"id": "x"}], "simulations": runs}
    (folder / "results.json").write_text(json.dumps(document, indent=2))
    return folder


def openhands(folder):
    """OpenHands: a line for each instance; its metrics list every call."""
    runs = []
    for name, calls in CALLS.items():
        usages = [{"model": "acme/m", "prompt_tokens": prompt, "completion_tokens": completion,
                   "cache_read_tokens": cached, "cache_write_tokens": 0}
                  for prompt, cached, completion, _ in calls]  # fmt: skip
        runs.append({
            "instance_id": name, "test_result": {"git_patch": f"diff {name}"},
            "metadata": {"llm_config": {"model": "acme/m"}, "dataset": "swe"},
            "history": [{"source": "agent", "message": "I look."}],
            "metrics": {"accumulated_cost": 0.75, "token_usages": usages,
                        "costs": [{"model": "acme/m", "cost": cost} for *_, cost in calls],
                        "response_latencies": [{"latency": 2.5} for _ in calls]},
            "error": None if RIGHT[name] else "AgentStuckInLoop\nat line 7",
            "report": {"resolved": RIGHT[name]},
        })  # fmt: skip
    folder.mkdir()
    (folder / "output.jsonl").write_text("".join(json.dumps(run) + "\n" for run in runs))
    return folder


def harbor(folder):
    """Harbor: a folder for each trial with its result, and one for the whole job."""
    for name, calls in CALLS.items():
        result = {
            "task_name": name, "trial_name": f"{name}__x", "source": "terminal-bench",
            "agent_info": {"name": "a", "model_info": {"name": "acme/m"}},
            "agent_execution": {"started_at": "2026-01-01T10:00:00Z",
                                "finished_at": "2026-01-01T10:01:00Z"},
            "agent_result": {"n_input_tokens": sum(call[0] for call in calls),
                             "n_cache_tokens": sum(call[1] for call in calls),
                             "n_output_tokens": sum(call[2] for call in calls),
                             "cost_usd": sum(call[3] for call in calls)},
            "verifier_result": {"rewards": {"reward": float(RIGHT[name])}},
            "exception_info": None if RIGHT[name] else {"exception_type": "AgentTimeoutError"},
        }  # fmt: skip
        (folder / f"{name}__x").mkdir(parents=True, exist_ok=True)
        (folder / f"{name}__x" / "result.json").write_text(json.dumps(result, indent=2))
    (folder / "result.json").write_text(json.dumps({"id": "job", "n_total_trials": 2}))
    return folder


@pytest.mark.parametrize(
    ("build", "cut", "money", "seconds"),
    [(tau2, "max_steps", 0.125, 1.5), (openhands, "AgentStuckInLoop", 0.125, 2.5),
     (harbor, "AgentTimeoutError", None, None)],
    ids=["tau2", "openhands", "harbor"],
)  # fmt: skip
def test_runs_of_other_agents(con, tmp_path, build, cut, money, seconds):
    load(con, [str(build(tmp_path / "runs"))], answer="none")
    assert loaded(con) == [
        ("django__django-1", 50, 250, "stop", True),
        ("django__django-2", 10, 100, cut, False),
    ]
    assert con.execute("select distinct archive, sum(money) from attempts group by 1").fetchall() \
        == [("acme/m", 0.875)]  # fmt: skip
    steps = con.execute("select completion_tokens, money, seconds from steps order by all")
    assert steps.fetchall() == ([(10, money, seconds), (20, 0.5, seconds), (30, 0.25, seconds)]
                                if money else [])  # fmt: skip


def harbor_job(folder, trials=40, several_agents=False):
    """A Harbor job of two trials a task, with trajectories; one failed before its agent ran."""
    for at in range(trials):
        name = f"task-{at // 2}"
        trial = folder / f"{name}__{'xy'[at % 2]}"
        (trial / "agent").mkdir(parents=True)
        result = {
            "task_name": name, "trial_name": trial.name, "source": "tb",
            "agent_info": {"name": f"agent{at % 2}", "model_info": {"name": "m"}},
            "agent_result": {"n_input_tokens": 30, "n_output_tokens": 7 + at, "cost_usd": 0.5},
            "agent_execution": {"started_at": "2026-01-01T10:00:00Z",
                                "finished_at": "2026-01-01T10:01:00Z"},
            "verifier_result": {"rewards": {"reward": float(at % 2)}}, "exception_info": None,
        }  # fmt: skip
        if at == 0:
            failed = {"exception_type": "DockerError"}
            result |= {"agent_result": None, "verifier_result": None, "exception_info": failed}
        (trial / "result.json").write_text(json.dumps(result, indent=2))
        counts = [(10, 3), (20, 4 + at + (at == 1))]
        steps = [
            {"step_id": s + 1, "source": "agent", "timestamp": f"2026-01-01T10:00:{20 * s:02d}Z",
             "metrics": {"prompt_tokens": prompt, "completion_tokens": count, "cost_usd": 0.25}}
            for s, (prompt, count) in enumerate(counts)
        ]  # fmt: skip
        (trial / "agent" / "trajectory.json").write_text(json.dumps(
            {"schema_version": "ATIF-v1.5", "session_id": "s", "agent": {"name": "a"},
             "steps": steps if at else []}
        ))  # fmt: skip
        (trial / "config.json").write_text(json.dumps({"trial_name": trial.name}))
    agents = [{"name": "agent0"}, {"name": "agent1"}][: 1 + several_agents]
    (folder / "config.json").write_text(json.dumps({"job_name": "j", "agents": agents}))
    (folder / "result.json").write_text(json.dumps({"id": "job", "n_total_trials": trials}))
    return folder


def test_a_job_folder_of_harbor_loads_whole_by_the_command_that_is_printed(tmp_path):
    folder = harbor_job(tmp_path / "job")
    shown = read_streams(tmp_path, "describe", folder)[0].splitlines()
    assert shown[1].split()[:3] == ["budget-audit", "load", str(folder)], shown
    read_streams(tmp_path, *shown[1].split()[1:], "--db", "job.duckdb")
    with duckdb.connect(str(tmp_path / "job.duckdb"), read_only=True) as con:
        counts = "count(*), count(distinct question_id), min(seed), max(seed), sum(prompt_tokens)"
        assert con.execute(f"select {counts} from attempts").fetchall() == [(40, 20, 0, 1, 1170)]
        # The failed trial has not passed; that of which the steps do not add up has none.
        assert con.execute("select count(*) filter (correct) from labels").fetchall() == [(20,)]
        found = "select count(*), sum(completion_tokens), sum(money), sum(seconds) from steps"
        total = sum(7 + at for at in range(2, 40))
        assert con.execute(found).fetchall() == [(76, total, 19.0, 38 * 60.0)]
        reasons = "select finish_reason, count(*) from attempts group by all order by all"
        assert con.execute(reasons).fetchall() == [("DockerError", 1), ("stop", 39)]


def test_agents_of_one_job_are_archives_of_their_own(con, tmp_path):
    folder = harbor_job(tmp_path / "job", 4, several_agents=True)
    load(con, [str(folder)], answer="none", failed="count")
    found = "select archive, count(*) from attempts group by all order by all"
    assert con.execute(found).fetchall() == [("agent0 m", 2), ("agent1 m", 2)]


def test_a_run_of_openhands_without_calls_is_one_step(con, tmp_path):
    usage = {"prompt_tokens": 90, "completion_tokens": 9, "cache_read_tokens": 40}
    run = {"instance_id": "a", "metadata": {"llm_config": {"model": "m"}, "dataset": "swe"},
           "metrics": {"accumulated_cost": 0.5, "accumulated_token_usage": usage},
           "history": [{"source": "agent", "message": "I look."}]}  # fmt: skip
    (tmp_path / "output.jsonl").write_text(json.dumps(run))
    load(con, [str(tmp_path / "output.jsonl")], answer="none")
    columns = "prompt_tokens, cached_tokens, completion_tokens, money"
    assert con.execute(f"select {columns} from steps").fetchall() == [(90, 40, 9, 0.5)]


def test_a_damaged_run_is_refused_in_one_line(tmp_path):
    folder = mini(tmp_path / "runs")
    path = folder / "django__django-1" / "django__django-1.traj.json"
    path.write_text(path.read_text()[:-40])
    line = run(tmp_path, "load", path, "--competition", "swe", status=2)
    assert "django__django-1.traj.json: not readable as JSON" in line
    assert "left out: " in read_streams(tmp_path, "describe", "runs", "--skip-unreadable")[0]


def test_what_apis_and_servers_say_of_cost_and_time_is_loaded(con, tmp_path):
    answer = [{"index": 0, "finish_reason": "stop", "message": {"content": r"\boxed{1}"}}]
    spent = {"prompt_tokens": 90, "completion_tokens": 7, "cost": 0.25,
             "prompt_tokens_details": {"cached_tokens": 64}}  # fmt: skip
    chat = {"object": "chat.completion", "model": "m", "choices": answer, "usage": spent}
    path = tmp_path / "chat.jsonl"
    path.write_text(json.dumps({"custom_id": "p#0", "response": {"body": chat}, "error": None}))
    load(con, [str(path)], competition="c")
    columns = "select prompt_tokens, cached_tokens, money, seconds from attempts"
    assert con.execute(columns).fetchall() == [(90, 64, 0.25, None)]
    request = {
        "request_id": "p", "prompt_token_ids": [1, 2, 3], "num_cached_tokens": 2,
        "metrics": {"arrival_time": 10.0, "finished_time": 12.5},
        "outputs": [{"index": 0, "text": r"\boxed{1}", "token_ids": [1] * 7,
                     "finish_reason": "stop"}],
    }  # fmt: skip
    path.write_text(json.dumps(request))
    load(con, [str(path)], archive="m", competition="c", replace=True)
    assert con.execute(columns).fetchall() == [(3, 2, None, 2.5)]


@pytest.mark.parametrize(
    "build",
    [
        mini,
        tau2,
        harbor,
        *(pytest.param(build, marks=pytest.mark.slow) for build in (swe_agent, atif, openhands)),
    ],
    ids=lambda build: build.__name__,
)
def test_describe_proposes_what_loads_a_run(tmp_path, build):
    folder = build(tmp_path / build.__name__)
    shown = read_streams(tmp_path, "describe", folder)[0].splitlines()
    assert shown[0].startswith("loads"), shown
    command = shown[1].split()
    assert command[-2:] == ["--answer", "none"] or "--answer none" in shown[1], shown
    read_streams(tmp_path, *command[1:], "--db", f"{build.__name__}.duckdb")
