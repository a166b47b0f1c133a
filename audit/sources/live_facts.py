"""What a live run says of its own budget, in its records: see `audit.live`."""

from collections.abc import Mapping, Sequence
from typing import Any

from audit.sources.paths import walk

# Where a controller's own lines and an Inspect sample keep it.
PLACES = (("budget_audit",), ("store", "budget_audit"))
FACTS = ("budget", "unit", "rule", "policy", "cap", "selector", "answer")


def live_facts(sample: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The budget, rule and policy that attempts were made under, as `live_…`; mostly nothing."""
    for record in sample:
        for place in PLACES:
            facts = walk(record, place)
            if isinstance(facts, Mapping) and "budget" in facts:
                return {f"live_{fact}": str(facts[fact]) for fact in FACTS if fact in facts}
    return {}
