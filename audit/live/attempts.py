"""An attempt as a controller records it, and what it costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audit.units import UNITS

# What of an attempt, and of each of its steps, has to be known to count in a unit.
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
    """A finished or cut attempt, with what canonical columns know of it."""

    seed: int
    cost: int
    columns: Mapping[str, Any]
    answer: str | None
    archive_answer: str | None

    @property
    def is_finished(self) -> bool:
        """Return whether generation ended by itself."""
        return self.columns["finish_reason"] == "stop"


def step_cost(unit: str, step: Step) -> int:
    """Return the cost of a step in the unit's whole numbers."""
    if unit == "steps":
        return 1
    if unit in ("money", "seconds"):
        return int(UNITS[unit].scale * float(step.get(unit) or 0) + 0.5)
    return sum(int(step.get(column) or 0) for column in COUNTED[unit])
