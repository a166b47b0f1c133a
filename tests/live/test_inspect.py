"""Live runs in Inspect, with a provider that plays recorded attempts: equal to the replay."""

import itertools
import json
import re
import shutil
from pathlib import Path

import pytest

import audit
from audit.engine.plugins import load_plugins
from tests.support.live import ran, replay, replayed, require

require("inspect_ai")

# ruff: noqa: E402 (what follows needs it)
from inspect_ai import eval_retry
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.util import TokenLimit

from audit.live.inspect import CumulativeBudget
from tests.support import playing, scripted

POLICIES = [plugin.name for plugin in load_plugins("policies")]
RULES = [plugin.name for plugin in load_plugins("rules")]
EPOCHS = 6
PROBLEMS = 8
UNITS = ("completion", "total")
STEPS = "select count(*) as steps from steps"
STEP_LOST = """
select question_id, budget, returned, cost from replays where rule = 'step_lost' and repeat = 0
"""


def played(folder, bank, name, budget=None, **options):
    """The log of a run on a bank, in a folder of its own."""
    playing.play(bank)
    log = scripted.run(folder / name, bank, budget, **options)
    assert log.status == "success", log.error
    return log.location


def compared(folder, bank, runs, unit="completion", **options):
    """Run a bank without a budget and under each of the budgets: how many problems are equal.

    A live run holds what it launched, so that its own replay needs no policy.
    """
    budgets = sorted({run["budget"] for run in runs})
    full, live = folder / "full.duckdb", folder / "live.duckdb"
    settings = [None, *({**run, "unit": unit} for run in runs)]
    scripted.run_all(folder / "logs", bank, settings, **options)
    # A small strict budget can leave no attempt that finished.
    audit.load(live, folder / "logs", force=True)
    shutil.copy(live, full)
    replay(live, EPOCHS, budgets=budgets, unit=unit)
    replay(full, EPOCHS, budgets=budgets, unit=unit, policies="all", archive=["scripted/0"])
    equal = 0
    for number, run in enumerate(runs, 1):
        ours = ran(live, f"scripted/{number}", run["budget"], run["rule"])
        theirs = replayed(full, "scripted/0", run["budget"], run["rule"], run["policy"])
        assert ours == theirs, run
        equal += len(ours)
    return equal


def every_run(first):
    """Every rule under every policy, the budgets in turn."""
    budgets = itertools.islice(itertools.cycle((30, 70, 220)), first, None)
    return [
        {"budget": next(budgets), "rule": rule, "policy": policy}
        for rule, policy in itertools.product(RULES, POLICIES)
    ]


@pytest.mark.parametrize("unit", UNITS)
def test_live_runs_equal_the_replay(tmp_path, unit):
    """Every rule and policy, attempts of one call and of two."""
    bank = playing.random_bank(unit, PROBLEMS, EPOCHS, steps=2, prompts=True)
    equal = compared(tmp_path, bank, every_run(UNITS.index(unit)), unit=unit)
    assert equal == PROBLEMS * len(RULES) * len(POLICIES)


def test_samples_that_fail_and_are_retried_equal_the_replay(tmp_path):
    bank = playing.random_bank("failing", 12, EPOCHS, failing=(0, 0, 1, 2))
    runs = [
        {"budget": 150, "rule": rule, "policy": policy}
        for rule in ("strict", "advisory")
        for policy in ("none", "decided")
    ]
    options = {"retry_on_error": 2, "max_samples": 12 * EPOCHS}
    assert compared(tmp_path, bank, runs, **options) == 12 * len(runs)


def test_what_failed_tries_used_stands_in_the_header(tmp_path):
    playing.play({(1, 1): playing.Script(((7, 50), (7, 60)), "4", failures=2, fails_at=1),
                   (2, 1): playing.Script(((7, 50), (7, 60)), "4")})  # fmt: skip
    options = {"retry_on_error": 2, "max_samples": 2}
    log = scripted.run(tmp_path, dict(playing.SCRIPTS), {"budget": 300}, **options)
    kept = log.results.early_stopping.metadata["budget_audit"]
    assert kept["spent"] == {"1": 110, "2": 110} and kept["lost_to_retries"] == {"1": 100}


def test_samples_that_always_fail_are_no_attempts_on_either_side(tmp_path):
    bank = playing.random_bank("broken", 12, EPOCHS, failing=(0, 0, -1))
    # `decided` counts on attempts that are still to come, and no run knows which of them will fail.
    runs = [
        {"budget": 150, "rule": rule, "policy": policy}
        for rule in ("strict", "advisory")
        for policy in ("none", "lead_of_three")
    ]
    assert compared(tmp_path, bank, runs) == 12 * len(runs)


def test_a_cancelled_run_that_is_resumed_equals_the_replay(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "live"))
    bank = playing.random_bank("resumed", 12, EPOCHS)
    audit.load(tmp_path / "full.duckdb", played(tmp_path, bank, "full"), archive="full")
    replay(tmp_path / "full.duckdb", EPOCHS, budgets=[220], policies="all")
    for rule, policy in (("strict", "lead_of_three"), ("advisory", "none")):
        budget = {"budget": 220, "rule": rule, "policy": policy}
        folder = tmp_path / "live" / rule
        cancelled = scripted.run_cancelled(folder, bank, budget, 25, max_samples=7)
        assert cancelled.status == "cancelled"
        assert len(cancelled.samples) > 10
        (resumed,) = eval_retry(cancelled, log_dir=str(folder), display="none")
        assert resumed.status == "success", resumed.error
        assert len(playing.SEEN) < len(resumed.samples), "some epochs must have been reused"
        live = tmp_path / f"{rule}.duckdb"
        audit.load(live, resumed.location, archive="live")
        replay(live, EPOCHS, budgets=[220])
        assert ran(live, "live", 220, rule) == replayed(
            tmp_path / "full.duckdb", "full", 220, rule, policy
        )


def test_a_resumed_run_whose_log_is_elsewhere_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "nowhere"))
    (tmp_path / "nowhere").mkdir()
    bank = playing.random_bank("lost", 3, 3)
    cancelled = scripted.run_cancelled(tmp_path / "live", bank, {"budget": 100}, 6, max_samples=2)
    (resumed,) = eval_retry(cancelled, log_dir=str(tmp_path / "live"), display="none")
    assert resumed.status == "error"
    assert "pass CumulativeBudget(…, log_dir=FOLDER)" in resumed.error.message


def test_the_log_is_an_ordinary_one_that_says_what_it_was_run_with(tmp_path):
    bank = playing.random_bank("facts", 3, 4)
    budget = {"budget": "0.2k", "rule": "advisory", "policy": "decided", "cap": 3}
    log = read_eval_log(played(tmp_path, bank, "live", budget))
    summary = log.results.early_stopping.metadata["budget_audit"]
    assert summary.pop("spent").keys() == {"1", "2", "3"}
    assert summary == {
        "budget": 200, "unit": "completion", "rule": "advisory", "policy": "decided", "cap": 3,
        "selector": "majority", "answer": "boxed",
    }  # fmt: skip
    assert log.samples[0].store["budget_audit"] == {**summary, "paid_before": 0}
    db = tmp_path / "a.duckdb"
    audit.load(db, log.location)
    (mapping,) = audit.query(db, "select mapping from sources").to_pydict()["mapping"]
    assert json.loads(mapping)["live_budget"] == "200"
    assert json.loads(mapping)["live_policy"] == "decided"


@pytest.mark.parametrize(("unit", "counted"), [("completion", "output"), ("total", "all")])
def test_inspects_own_token_limit_is_the_rule_step_lost(tmp_path, unit, counted):
    """Samples of several calls, each limited by itself: a cap of one attempt."""
    bank = playing.random_bank(f"limit {counted}", 25, 1, steps=5, prompts=True)
    spent = [[_spent(step, counted) for step in script.steps] for script in bank.values()]
    # At one limit a call of the first sample ends exactly.
    limits = sorted({60, 100, 150, spent[0][0], sum(spent[1])})
    db = tmp_path / "full.duckdb"
    audit.load(db, played(tmp_path, bank, "full"))
    ((steps,),) = (row.values() for row in audit.query(db, STEPS).to_pylist())
    assert steps == sum(len(calls) for calls in spent if len(calls) > 1)
    replay(db, 1, budgets=limits, unit=unit)
    outcomes = {
        (row["question_id"], row["budget"]): (row["returned"], row["cost"])
        for row in audit.query(db, STEP_LOST).to_pylist()
    }
    for limit in limits:
        playing.play(bank)
        token_limit = TokenLimit(tokens=limit, type=counted)
        log = scripted.run(tmp_path / str(limit), bank, token_limit=token_limit)
        for sample in log.samples:
            usage = sample.model_usage["scripted/bank"]
            paid = usage.output_tokens if counted == "output" else usage.total_tokens
            found = (0 if sample.limit else 1, paid)
            assert found == outcomes[sample.id, limit], (sample.id, limit)


def _spent(step, counted):
    """What a call counts for a limit."""
    return step[1] if counted == "output" else sum(step)


def test_a_provider_that_ignores_max_tokens_returns_nothing_past_the_budget(tmp_path):
    bank = playing.random_bank("deaf", 5, EPOCHS)
    full = played(tmp_path, bank, "full")
    playing.play(bank)
    playing.FLAGS["obeys"] = False
    live = scripted.run(tmp_path / "live", bank, {"budget": 150})
    assert audit.verify(live.location, full).caption.startswith("5 of 5 problems equal")


def test_a_provider_without_usage_is_refused_after_one_attempt(tmp_path):
    bank = playing.random_bank("uncounted", 6, 3)
    playing.play(bank)
    playing.FLAGS["usage"] = False
    log = scripted.run(tmp_path, bank, {"budget": 150})
    assert log.status == "error"
    assert "returned no token usage" in log.error.message
    assert len(playing.SEEN) == 1


@pytest.mark.parametrize("unit", ["money", "seconds", "steps"])
def test_a_unit_that_the_log_cannot_count_is_refused(unit):
    with pytest.raises(audit.AuditError, match="an Inspect log cannot count it"):
        CumulativeBudget(1000, unit=unit)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"log_samples": False}, "log the samples"),
        ({"retry_on_error": 1, "max_samples": 3}, "pass max_samples=6"),
    ],
)
def test_a_run_in_which_the_budget_would_not_hold_is_refused(tmp_path, options, message):
    bank = playing.random_bank("refused", 2, 3)
    playing.play(bank)
    log = scripted.run(tmp_path, bank, {"budget": 150}, **options)
    assert log.status == "error" and message in log.error.message
    assert not playing.SEEN


def test_the_readme_with_inspect(tmp_path, monkeypatch):
    readme = (Path(audit.__file__).parent / "live" / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    (block,) = [block for block in blocks if "inspect_ai" in block]
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    playing.play({})
    exec(block.replace("openai/gpt-5-mini", "scripted/bank"), {})
    (found,) = list_eval_logs(str(tmp_path))
    log = read_eval_log(found)
    assert log.status == "success" and len(log.samples) == 3
    assert log.results.early_stopping.metadata["budget_audit"]["spent"] == {"1": 18000}
