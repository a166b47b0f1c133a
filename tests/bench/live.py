"""What a live controller costs beside the attempts: processor seconds, not those on the clock."""

import time
from collections.abc import Callable

from audit.live import Controller
from tests.bench.harness import Asked, Line

POLICIES = ("lead_of_three", "adaptive_consistency", "decided", "early_stopping")
ATTEMPTS = 12


def live(asked: Asked) -> list[Line]:
    """A controller of settings that no other one has, and each of its attempts."""
    Controller(1000, cap=ATTEMPTS)
    settings, attempts = [], []
    for cap in range(ATTEMPTS + 1, ATTEMPTS + 1 + asked.rounds(9)):
        policy = POLICIES[cap % len(POLICIES)]
        spent, controller = processor(lambda cap=cap, policy=policy: made(cap, policy))
        settings.append(spent)
        spent, launched = processor(lambda controller=controller: run(controller))
        attempts.append(1000 * spent / launched)
    return [
        Line("live", "a new combination of settings", settings, unit=" s"),
        Line("live", "an attempt, and whether another begins", attempts, unit=" ms"),
    ]


def made(cap: int, policy: str) -> Controller:
    """A controller under a policy."""
    return Controller(10**6, cap=cap, policy=policy)


def run(controller: Controller) -> int:
    """How many attempts were launched until the policy stops; their answers differ at first."""
    while controller.launched < ATTEMPTS and controller.may_launch():
        controller.record(7, str(min(controller.launched, 4)))
    return controller.launched


def processor(work: Callable[[], object]) -> tuple[float, object]:
    """The processor seconds of a call, and what it returns."""
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found
