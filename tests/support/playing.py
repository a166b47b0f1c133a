"""What the scripted provider plays, and what it has met.

Inspect imports the file of a task anew when it resumes a run, so that this is not kept in it.
"""

import random
from dataclasses import dataclass


@dataclass
class Script:
    """One attempt: the prompt and completion tokens of its calls, its answer, and its accidents."""

    steps: tuple[tuple[int, int], ...]
    answer: str | None
    finish: str = "stop"
    # How many times the sample fails before it succeeds, at one of its calls; -1 is always.
    failures: int = 0
    fails_at: int = 0


# What the provider plays: by sample, epoch and call.
SCRIPTS: dict[tuple[int, int], Script] = {}
FAILED: dict[tuple[int, int], int] = {}
SEEN: list[tuple[int, int, int | None]] = []
CANCEL: list = []
# The budget of the next run, as CumulativeBudget takes it.
BUDGET: dict = {}
FLAGS = {"usage": True, "obeys": True, "cancel_at": 0}


def random_bank(seed, problems, epochs, *, steps=1, prompts=False, failing=()):
    """Scripts of random costs and answers; a few attempts are cut or have no answer."""
    chance = random.Random(seed)
    bank = {}
    for problem in range(1, problems + 1):
        prompt = chance.randint(1, 40) if prompts else 7
        # Policies stop early where most answers agree.
        answers = chance.choice([["4"], ["4", "5", "6", "4", None]])
        for epoch in range(1, epochs + 1):
            calls = tuple((prompt, chance.randint(1, 120)) for _ in range(chance.randint(1, steps)))
            finish = "stop" if chance.random() < 0.9 else "max_tokens"
            answer = chance.choice(answers)
            failures = failing[chance.randrange(len(failing))] if failing else 0
            bank[problem, epoch] = Script(calls, answer, finish, failures)
    return bank


def play(bank):
    """Make the provider play these attempts."""
    SCRIPTS.clear()
    SCRIPTS.update(bank)
    FAILED.clear()
    SEEN.clear()
    CANCEL.clear()
    FLAGS.update(usage=True, obeys=True, cancel_at=0)
