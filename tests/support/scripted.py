"""An Inspect provider that plays recorded attempts, and tasks that are run with it."""

import random
from dataclasses import dataclass

from inspect_ai import Task, eval, task
from inspect_ai.dataset import MemoryDataset, Sample
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


@dataclass
class Script:
    """One attempt: the prompt and completion tokens of its calls, its answer, and its accidents."""

    steps: tuple[tuple[int, int], ...]
    answer: str | None
    finish: str = "stop"
    # How many times the sample fails before it succeeds; -1 is always.
    failures: int = 0


# What the provider plays: by sample, epoch and call.
SCRIPTS: dict[tuple[int, int], Script] = {}
FAILED: dict[tuple[int, int], int] = {}
SEEN: list[tuple[int, int, int | None]] = []
FLAGS = {"usage": True, "obeys": True, "cancel_at": 0}


def random_bank(seed, problems, epochs, *, steps=1, prompts=False, failing=()):
    """Scripts of random costs and answers; a few attempts are cut or have no answer."""
    chance = random.Random(seed)
    bank = {}
    for problem in range(1, problems + 1):
        for epoch in range(1, epochs + 1):
            calls = tuple(
                (chance.randint(1, 40) if prompts else 7, chance.randint(1, 120))
                for _ in range(chance.randint(1, steps))
            )
            finish = "stop" if chance.random() < 0.9 else "max_tokens"
            answer = chance.choice(["4", "5", "6", "4", None])
            failures = failing[chance.randrange(len(failing))] if failing else 0
            bank[problem, epoch] = Script(calls, answer, finish, failures)
    return bank


def play(bank):
    """Make the provider play these attempts."""
    SCRIPTS.clear()
    SCRIPTS.update(bank)
    FAILED.clear()
    SEEN.clear()
    FLAGS.update(usage=True, obeys=True, cancel_at=0)


class Scripted(ModelAPI):
    """Plays the call that the last message names, as far as max_tokens lets it."""

    async def generate(self, input, tools, tool_choice, config):
        problem, epoch, call = map(int, input[-1].text.split(":"))
        script = SCRIPTS[problem, epoch]
        SEEN.append((problem, epoch, config.max_tokens))
        if FLAGS["cancel_at"] and len(SEEN) >= FLAGS["cancel_at"]:
            raise KeyboardInterrupt
        failed = FAILED.get((problem, epoch), 0)
        if script.failures < 0 or failed < script.failures:
            FAILED[problem, epoch] = failed + 1
            raise RuntimeError("the provider failed")
        prompt, completion = script.steps[call]
        limit = config.max_tokens if FLAGS["obeys"] else None
        is_cut = limit is not None and completion > limit
        used = limit if is_cut else completion
        is_last = call == len(script.steps) - 1
        text = f"so \\boxed{{{script.answer}}}" if script.answer and is_last else "no answer"
        reason = "max_tokens" if is_cut else script.finish if is_last else "stop"
        message = ChatMessageAssistant(content="cut" if is_cut else text, source="generate")
        return ModelOutput(
            model="scripted",
            choices=[ChatCompletionChoice(message=message, stop_reason=reason)],
            usage=ModelUsage(input_tokens=prompt, output_tokens=used, total_tokens=prompt + used)
            if FLAGS["usage"]
            else None,
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


BUDGET = {}


@task
def problems(count: int = 4, epochs: int = 4):
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
    )  # fmt: skip


def run(folder, bank, budget=None, **options):
    """Run the task on a bank, under a budget if there is one; the log."""
    BUDGET.clear()
    BUDGET.update(budget or {})
    count, epochs = (max(key[place] for key in bank) for place in (0, 1))
    options = {"max_samples": 20, "fail_on_error": False, **options}
    (log,) = eval(
        problems(count, epochs), model="scripted/bank", log_dir=str(folder), display="none",
        log_level="error", **options,
    )  # fmt: skip
    return log
