"""An Inspect provider that plays recorded attempts, and tasks that are run with it."""

import asyncio
import contextlib
import functools
import importlib.metadata

from inspect_ai import Task, eval, eval_async, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer
from inspect_ai.solver import solver

from audit.answers.boxes import last_box
from tests.support.playing import (
    BUDGET,
    CANCEL,
    FAILED,
    FLAGS,
    SCRIPTS,
    SEEN,
    play,
)

# Inspect asks every task anew which package it comes from, and reads the metadata of all.
importlib.metadata.packages_distributions = functools.cache(
    importlib.metadata.packages_distributions
)


class Scripted(ModelAPI):
    """Plays the call that the last message names, as far as max_tokens lets it."""

    async def generate(self, input, tools, tool_choice, config):
        if ":" not in input[-1].text:
            return _answered("so \\boxed{4}", "stop", 20, 6000)
        problem, epoch, call = map(int, input[-1].text.split(":"))
        script = SCRIPTS[problem, epoch]
        SEEN.append((problem, epoch, config.max_tokens))
        if CANCEL and len(SEEN) >= FLAGS["cancel_at"]:
            CANCEL[0]()
            await asyncio.sleep(60)
        failed = FAILED.get((problem, epoch), 0)
        if call == script.fails_at and (script.failures < 0 or failed < script.failures):
            FAILED[problem, epoch] = failed + 1
            raise RuntimeError("the provider failed")
        prompt, completion = script.steps[call]
        limit = config.max_tokens if FLAGS["obeys"] else None
        is_cut = limit is not None and completion > limit
        used = limit if is_cut else completion
        is_last = call == len(script.steps) - 1
        text = f"so \\boxed{{{script.answer}}}" if script.answer and is_last else "no answer"
        reason = "max_tokens" if is_cut else script.finish if is_last else "stop"
        return _answered("cut" if is_cut else text, reason, prompt, used)


def _answered(text, reason, prompt, used):
    """An output of the provider."""
    message = ChatMessageAssistant(content=text, source="generate")
    usage = ModelUsage(input_tokens=prompt, output_tokens=used, total_tokens=prompt + used)
    return ModelOutput(
        model="scripted",
        choices=[ChatCompletionChoice(message=message, stop_reason=reason)],
        usage=usage if FLAGS["usage"] else None,
    )


@modelapi("scripted")
def scripted():
    return Scripted


@solver
def calls():
    async def solve(state, generate):
        for call in range(len(SCRIPTS[state.sample_id, state.epoch].steps)):
            state.messages.append(
                ChatMessageUser(content=f"{state.sample_id}:{state.epoch}:{call}")
            )
            state = await generate(state)
        return state

    return solve


@scorer(metrics=[accuracy()])
def boxed():
    async def score(state, target):
        answer = last_box(state.output.completion) if state.output.choices else None
        return Score(value=CORRECT if answer == target.text else INCORRECT, answer=answer)

    return score


@task
def problems(count: int = 4, epochs: int = 4, model: str | None = None):
    """The task of every run; the budget of a live one is made anew for it."""
    from audit.live.inspect import CumulativeBudget

    return Task(
        dataset=MemoryDataset([Sample(id=n, input=f"problem {n}", target="4")
                               for n in range(1, count + 1)]),
        solver=calls(),
        scorer=boxed(),
        epochs=epochs,
        config=GenerateConfig(temperature=1),
        early_stopping=CumulativeBudget(**BUDGET) if BUDGET else None,
        name="problems",
        model=model,
    )  # fmt: skip


def run_cancelled(folder, bank, budget, calls, **options):
    """Run the task under a budget and cancel it at a call; the log."""
    play(bank)
    FLAGS["cancel_at"] = calls

    async def begin():
        running = asyncio.ensure_future(eval_async(**_arguments(folder, bank, budget, options)))
        CANCEL.append(running.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await running

    asyncio.run(begin())
    play(bank)
    (found,) = list_eval_logs(str(folder))
    return read_eval_log(found)


def run(folder, bank, budget=None, **options):
    """Run the task on a bank, under a budget if there is one; the log."""
    (log,) = eval(**_arguments(folder, bank, budget, options), display="none")
    return log


def run_all(folder, bank, budgets, **options):
    """Run the task on a bank under each of these budgets, None is none; models are numbered."""
    logs = []
    # Every other run has its samples one by one.
    for start, concurrency in ((0, 1), (1, 20)):
        tasks = []
        for number in range(start, len(budgets), 2):
            _set_budget(budgets[number])
            tasks.append(problems(*_sizes(bank), model=f"scripted/{number}"))
        if tasks:
            play(bank)
            arguments = _arguments(folder, bank, None, {"max_samples": concurrency} | options)
            del arguments["model"]
            logs += eval(**arguments | {"tasks": tasks}, display="none")
    assert {log.status for log in logs} == {"success"}, [log.error for log in logs]


def _set_budget(budget):
    BUDGET.clear()
    BUDGET.update(budget or {})


def _sizes(bank):
    """How many samples and epochs a bank has."""
    return tuple(max(key[place] for key in bank) for place in (0, 1))


def _arguments(folder, bank, budget, options):
    _set_budget(budget)
    return {
        "tasks": problems(*_sizes(bank)),
        "model": "scripted/bank",
        "log_dir": str(folder),
        "log_level": "error",
        "log_realtime": False,
        "max_samples": 20,
        "fail_on_error": False,
        **options,
    }
