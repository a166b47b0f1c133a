"""An attempt as a controller records it, and the cost of its steps."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audit.units import UNITS

# The columns that an attempt, or each of its steps, needs so that its cost in a unit is known.
COUNTED = {
    "completion": ("completion_tokens",),
    "total": ("prompt_tokens", "completion_tokens"),
    "money": ("money",),
    "seconds": ("seconds",),
    "steps": (),
}
Step = Mapping[str, float | None]


@dataclass(frozen=True)
class Attempt:
    """A finished or cut attempt: its cost, its answers and its canonical columns."""

    seed: int
    cost: int
    columns: Mapping[str, Any]
    answer: str | None
    archive_answer: str | None

    @property
    def is_finished(self) -> bool:
        """Return whether the attempt ended with finish_reason 'stop', not at a limit."""
        return self.columns["finish_reason"] == "stop"


def step_cost(unit: str, step: Step) -> int:
    """Return the cost of a step as an integer: tokens, steps, or fractions of $1 or 1 s."""
    if unit == "steps":
        return 1
    if unit in ("money", "seconds"):
        return int(UNITS[unit].scale * float(step.get(unit) or 0) + 0.5)
    return sum(int(step.get(column) or 0) for column in COUNTED[unit])
