"""Runs of agents: an attempt is a run, made of steps, one per model call; each tool declared."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

from audit.sources.files import Row, SourceFile
from audit.sources.formats import Context, Field, Format, Record, column, renamed
from audit.sources.json_stream import (
    JsonStream,
    file_members,
    items_of,
    small_document,
    stream_records,
)
from audit.sources.paths import items, value_at

# A run is the only attempt of its file or line.
ONE_RUN = column("seed", "one attempt a run", make=lambda record: 0)
NO_LABELS = "the log grades nothing: --labels FILE names who is right"
UNGRADED = {"correct": NO_LABELS, "competition": "a trajectory names no benchmark"}
DAMAGED = "not readable as JSON"
# Runs pass or fail: they answer nothing to vote on.
of_runs = partial(Format, has_answers=False)
# Where Harbor keeps what a run has earned, and when its agent began and ended.
REWARD = "verifier_result.rewards.reward"
BEGAN, ENDED = "agent_execution.started_at", "agent_execution.finished_at"


def whole_records(file: SourceFile, header: Record) -> Iterator[Row]:
    """Read the objects of a file, however they are laid out: one, one a line, or in an array."""
    return stream_records(file, JsonStream.records, DAMAGED)


def step(usage: Any, *, cached: Any = None, money: Any = None, seconds: Any = None) -> Record:
    """Return one model call: its usage as OpenAI counts it, its cost and how long it took."""
    paths = ("prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens")
    return {
        "prompt_tokens": value_at(usage, "prompt_tokens", "input_tokens"),
        "cached_tokens": value_at(usage, *paths, "cached_tokens") if cached is None else cached,
        "completion_tokens": value_at(usage, "completion_tokens", "output_tokens"),
        "money": money,
        "seconds": seconds,
    }


def calls(
    path: str, usage: str, money: Sequence[str], *seconds: str, **speaker: str
) -> Callable[[Record], list[Record]]:
    """Return what makes steps of a list's items that have a usage, those of one speaker."""
    return lambda record: [
        step(used, money=value_at(item, *money), seconds=value_at(item, *seconds))
        for item in items(value_at(record, path))
        if (used := value_at(item, usage)) is not None and _is(item, speaker)
    ]


def of_steps(where: str, steps: Callable[[Record], list[Record]]) -> tuple[Field, ...]:
    """Return the columns of runs whose steps are made of their records."""

    def total(name: str) -> Field:
        def add_up(record: Record) -> Any:
            counts = [step[name] for step in steps(record) if step[name] is not None]
            return sum(counts) if counts else None

        return column(name, f"the sum over {where}", make=add_up)

    return (
        column("steps", where, make=lambda record: steps(record) or None),
        total("prompt_tokens"),
        total("completion_tokens"),
    )


def spoken(path: str, said: str = "content", **speaker: str) -> Callable[[Record], str | None]:
    """Return what joins the texts of a list's items, those of one speaker, without blank ones."""

    def joined(record: Record) -> str | None:
        turns = (turn for turn in items(value_at(record, path)) if _is(turn, speaker))
        texts = (value_at(turn, said) for turn in turns)
        return "\n\n".join(t for t in texts if isinstance(t, str) and t.strip()) or None

    return joined


def _is(item: Any, facts: Mapping[str, str]) -> bool:
    return all(value_at(item, name) == value for name, value in facts.items())


def _submitted(said: Callable[[Record], str | None]) -> Field:
    """Return the text column of a run: what was submitted, or else what was said."""
    return column(
        "text",
        "info.submission, or else what the agent said",
        make=lambda record: value_at(record, "info.submission") or said(record),
    )


def _of_file(file: SourceFile, *suffixes: str) -> str:
    """Return the problem that a file is named after."""
    name = file.path.name
    return next((name.removesuffix(s) for s in suffixes if name.endswith(s)), name)


# mini-swe-agent `.traj.json`: a run per file.


def _with_first_model(record: Record, context: Context) -> Record | None:
    messages = items(record.get("messages"))
    models = (value_at(message, "extra.response.model") for message in messages)
    return record | {"first model": next(filter(None, models), None)}


def _plain_model(name: Any) -> Any:
    """Return a model's name without the @ that some gateways write before it."""
    return name.removeprefix("@") if isinstance(name, str) else name


MINI_SWE_AGENT = of_runs(
    name="mini_swe_agent",
    title="mini-swe-agent trajectory",
    recognized_by=(("messages", "info.exit_status", "info.model_stats"),),
    suffixes=(".traj.json",),
    records=whole_records,
    prepare=_with_first_model,
    fields=(
        column("archive", "info.config.model.model_name", "first model", read=_plain_model),
        column(
            "question_id",
            "instance_id, or else the file's name",
            look_up=lambda record, position, context: (
                record.get("instance_id") or _of_file(context.file, ".traj.json", ".json")
            ),
        ),
        ONE_RUN,
        *of_steps(
            "messages.*.extra.response.usage",
            calls("messages", "extra.response.usage", ("extra.response.usage.cost", "extra.cost")),
        ),
        column("money", "info.model_stats.instance_cost"),
        column("finish_reason", "info.exit_status", read=renamed({"Submitted": "stop"})),
        _submitted(spoken("messages", role="assistant")),
    ),
    absent=UNGRADED,
)


# SWE-agent `.traj`: a run per file; tokens and money are recorded for the whole run alone.


def _with_settings(record: Record, context: Context) -> Record | None:
    """Return a run with the model that its settings name, in JSON of their own."""
    settings = record.get("replay_config")
    try:
        settings = json.loads(settings) if isinstance(settings, str) else settings
    except (ValueError, RecursionError):
        settings = None
    return record | {"model in settings": value_at(settings, "agent.model.name")}


SWE_AGENT = of_runs(
    name="swe_agent",
    title="SWE-agent trajectory",
    recognized_by=(("trajectory", "info.model_stats"),),
    suffixes=(".traj",),
    records=whole_records,
    prepare=_with_settings,
    fields=(
        column("archive", "model in settings"),
        column(
            "question_id",
            "the file's name",
            look_up=lambda record, position, context: _of_file(context.file, ".traj", ".json"),
        ),
        ONE_RUN,
        column("prompt_tokens", "info.model_stats.tokens_sent"),
        column("completion_tokens", "info.model_stats.tokens_received"),
        column("money", "info.model_stats.instance_cost"),
        column("finish_reason", "info.exit_status", read=renamed({"submitted": "stop"})),
        _submitted(spoken("trajectory", "response")),
    ),
    absent=UNGRADED | {"archive": "its settings name no model"},
)


# ATIF, the agent trajectory interchange format: a run per file. Harbor keeps one in each trial's
# folder, below the trial's own result.

STEPS = calls("steps", "metrics", ("metrics.cost_usd",))
RESULT, TRAJECTORY = "result.json", "trajectory.json"


def _is_trial(result: Any) -> bool:
    """Return whether a document is the result of a trial."""
    return isinstance(result, dict) and {"task_name", "trial_name"} <= result.keys()


def is_part_of_trial(path: Path) -> bool:
    """Return whether a file is read with the result of its Harbor trial, so not by itself."""
    is_trajectory = path.parent.name == "agent" and path.name.startswith("trajectory")
    result = small_document(path.parent.parent / RESULT) if is_trajectory else {}
    return _is_trial(result) and value_at(result, "agent_info") is not None


def _result(file: SourceFile) -> Record:
    """Read the result that the runner has written in a folder above."""
    for folder in file.path.resolve().parents[:2]:
        if _is_trial(result := small_document(folder / RESULT)):
            return {"result": result, "folder": folder}
    return {}


def _task(record: Record, position: int, context: Context) -> Any:
    task = value_at(context.header, "result.task_name")
    return task if task is not None else record.get("session_id")


def _trial_number(folder: Path) -> int:
    """Return the place of a trial's folder among those of the same task: TASK__ID, by name."""
    task = folder.name.rpartition("__")[0]
    if not task:
        return 0
    with suppress(OSError):
        names = (other.name for other in folder.parent.iterdir() if other.is_dir())
        return sorted(name for name in names if name.rpartition("__")[0] == task).index(folder.name)
    return 0


def _number_above(record: Record, position: int, context: Context) -> int:
    folder = context.header.get("folder")
    return 0 if folder is None else _trial_number(folder)


def _failure_above(record: Record, position: int, context: Context) -> Any:
    result = context.header.get("result")
    return None if result is None else _failure(result)


def _failure(record: Record) -> Any:
    """Return how a trial failed; one without an exception has ended by itself."""
    failure = record.get("exception_info")
    if not failure:
        return "stop"
    return str(failure.get("exception_type", "error")) if isinstance(failure, dict) else "error"


ATIF = of_runs(
    name="atif",
    title="ATIF trajectory",
    recognized_by=(("schema_version", "session_id", "agent.name"),),
    header=_result,
    records=whole_records,
    fields=(
        column("archive", "agent.model_name", "agent.name"),
        column("competition", "@result.source"),
        column("question_id", "the task of the result, or else session_id", look_up=_task),
        column("seed", "the trial's place among those of its task", look_up=_number_above),
        *of_steps("steps.*.metrics", STEPS),
        column("finish_reason", "exception_info of the result", look_up=_failure_above),
        column("text", "steps.*.message", make=spoken("steps", "message", source="agent")),
        column("correct", f"@result.{REWARD}"),
    ),
    absent=UNGRADED | {"finish_reason": "ATIF records none"},
)


# Harbor trial `result.json`: a run per file, its steps in the trajectory below it.

SPENT = ("n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd")
OTHER_SUMS = "trials have a trajectory that does not add up to their result: they have no steps"


def _with_steps(record: Record, context: Context) -> Record:
    """Return a trial with the steps of its trajectory, where they are all that it spent."""
    # Where a trial failed before its agent ran, the columns are null and not absent.
    spent = dict.fromkeys(SPENT) | (record.get("agent_result") or {})
    record = record | {"agent_result": spent}
    found = small_document(context.file.path.parent / "agent" / TRAJECTORY)
    steps = STEPS(found) if isinstance(found, dict) else []
    if not steps:
        return record
    for mine, theirs in (
        ("prompt_tokens", "n_input_tokens"),
        ("completion_tokens", "n_output_tokens"),
    ):
        total = value_at(record, f"agent_result.{theirs}")
        if total is not None and sum(step[mine] or 0 for step in steps) != total:
            context.notes[OTHER_SUMS] += 1
            return record
    times = [
        value_at(item, "timestamp") for item in items(found.get("steps")) if item.get("metrics")
    ]
    _time_steps(steps, [value_at(record, BEGAN) or times[0], *times[1:], value_at(record, ENDED)])
    return record | {"calls": steps}


def _time_steps(steps: list[Record], times: list[Any]) -> None:
    """Give each step the seconds until the next one, tools included, where all times are known."""
    seconds = [_seconds_between(*pair) for pair in pairwise(times)]
    if len(seconds) == len(steps) and None not in seconds:
        for step, value in zip(steps, seconds, strict=True):
            step["seconds"] = value


def _seconds_between(begin: Any, end: Any) -> float | None:
    """Return the seconds between two times as ISO 8601 writes them, or None."""
    with suppress(TypeError, ValueError):
        seconds = (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()
        return seconds if seconds >= 0 else None
    return None


def _agent(record: Record, position: int, context: Context) -> Any:
    """Return the model, with the agent before it where a job ran several agents."""
    paths = ("agent_info.model_info.name", "config.agent.model_name")
    model, agent = value_at(record, *paths), value_at(record, "agent_info.name")
    job = small_document(context.file.path.resolve().parents[1] / "config.json")
    ran = {value_at(item, "name", "import_path") for item in items(value_at(job, "agents"))}
    return f"{agent} {model}" if len(ran) > 1 and agent and model else model or agent


def _reward(record: Record) -> Any:
    """Return the reward; a trial that failed before it was verified has not passed."""
    reward = value_at(record, REWARD)
    return False if reward is None and record.get("exception_info") else reward


HARBOR = of_runs(
    name="harbor",
    title="Harbor trial result",
    recognized_by=(("task_name", "trial_name", "agent_result"),),
    records=whole_records,
    prepare=_with_steps,
    fields=(
        column("archive", "agent_info.model_info.name", look_up=_agent),
        column("competition", "source"),
        column("question_id", "task_name"),
        column(
            "seed",
            "the trial's place among those of its task",
            look_up=lambda record, position, context: _trial_number(
                context.file.path.resolve().parent
            ),
        ),
        column("steps", "agent/trajectory.json", make=lambda record: record.get("calls")),
        column("prompt_tokens", "agent_result.n_input_tokens"),
        column("cached_tokens", "agent_result.n_cache_tokens"),
        column("completion_tokens", "agent_result.n_output_tokens"),
        column("money", "agent_result.cost_usd"),
        column(
            "seconds",
            "agent_execution",
            make=lambda record: _seconds_between(value_at(record, BEGAN), value_at(record, ENDED)),
        ),
        column("finish_reason", "exception_info", make=_failure),
        column("correct", REWARD, make=_reward),
    ),
    absent={"correct": NO_LABELS, "competition": "the trial names no benchmark"},
)


# OpenHands `output.jsonl`: a run per line, its model calls in the metrics.


def _metered(record: Record) -> list[Record]:
    """Return the model calls of a run, or one step where only the sums are recorded."""
    metrics = record.get("metrics")
    cached = "cache_read_tokens"
    if usages := items(value_at(metrics, "token_usages")):
        costs, times = (
            [value_at(value, name) for value in values] if len(values) == len(usages) else []
            for values, name in (
                (items(value_at(metrics, "costs")), "cost"),
                (items(value_at(metrics, "response_latencies")), "latency"),
            )
        )
        return [
            step(usage, cached=value_at(usage, cached), money=cost, seconds=time)
            for usage, cost, time in zip_longest(usages, costs, times)
        ]
    usage, money = (value_at(metrics, f"accumulated_{n}") for n in ("token_usage", "cost"))
    return [] if usage is None else [step(usage, cached=value_at(usage, cached), money=money)]


def _patch(record: Record) -> Any:
    """Return the patch, or else what the agent said."""
    patch = value_at(record, "test_result.git_patch") or record.get("git_patch")
    if isinstance(patch, str) and patch.strip():
        return patch
    return spoken("history", "message", source="agent")(record)


def _error(record: Record) -> Any:
    """Return the first line of a run's error; one without an error has ended by itself."""
    error = record.get("error")
    return "stop" if not error else str(error).splitlines()[0][:200]


OPENHANDS = of_runs(
    name="openhands",
    title="OpenHands output",
    recognized_by=(("instance_id", "metadata.llm_config", "metrics"),),
    fields=(
        column("archive", "metadata.llm_config.model"),
        column("competition", "metadata.dataset"),
        column("question_id", "instance_id"),
        ONE_RUN,
        *of_steps("metrics.token_usages", _metered),
        column("finish_reason", "error", make=_error),
        column("text", "test_result.git_patch, or else what the agent said", make=_patch),
        column("correct", "report.resolved", "test_result.report.resolved"),
    ),
    absent={"correct": NO_LABELS, "competition": "its metadata name no dataset"},
)


# tau-bench results: an array of runs with their messages and reward, and no usage.

TAU_BENCH = of_runs(
    name="tau_bench",
    title="tau-bench results",
    recognized_by=(("task_id", "reward", "traj"),),
    fields=(
        column("question_id", "task_id"),
        column("seed", "trial"),
        column("text", "what the agent said in traj", make=spoken("traj", role="assistant")),
        column("correct", "reward"),
    ),
    absent={
        "archive": "results name no model",
        "competition": "results name no benchmark",
        "completion_tokens": "tau-bench records no usage",
        "finish_reason": "tau-bench records none",
    },
)


# tau2-bench results: one document, a run per simulation. What the user's model cost is not the
# agent's.


def _document(file: SourceFile) -> Record:
    """Read what the document says of the agent, before its simulations."""
    members = file_members(file, "simulations", DAMAGED)
    return next(({key: value} for key, value in members if key == "info"), {})


TAU2_BENCH = of_runs(
    name="tau2_bench",
    title="tau2-bench results",
    recognized_by=(("info.agent_info", "info.environment_info"),),
    header=_document,
    records=lambda file, header: stream_records(file, items_of("simulations"), DAMAGED),
    fields=(
        column("archive", "@info.agent_info.llm"),
        column("competition", "@info.environment_info.domain_name"),
        column("question_id", "task_id"),
        column("seed", "trial"),
        *of_steps(
            "messages.*.usage of the agent",
            calls("messages", "usage", ("cost",), "generation_time_seconds", role="assistant"),
        ),
        # The whole run, tools and the user's turns included; its steps are generation alone.
        column("seconds", "duration"),
        # Limits and errors are no end.
        column(
            "finish_reason",
            "termination_reason",
            read=renamed({"user_stop": "stop", "agent_stop": "stop"}),
        ),
        column(
            "text", "what the agent said in messages", make=spoken("messages", role="assistant")
        ),
        column("correct", "reward_info.reward"),
    ),
)
