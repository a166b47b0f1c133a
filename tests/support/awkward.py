"""Random archives for what lies beyond the study: unanimous banks, odd references, no labels."""

import random
from typing import Any

from tests.support.archives import ANSWERS, random_archive, random_settings

Row = dict[str, Any]
POLICIES = ("adaptive_consistency", "decided", "early_stopping", "lead_of_three")


def awkward_archive(rng: random.Random, *, labelled: bool = False, **knobs: Any) -> list[Row]:
    """A random archive some of whose banks agree, escape their boxes twice or shuffle references.

    Unless all must be labelled, an archive may come without any label.
    """
    rows = random_archive(rng, **{"attempts": 13, "missing": 0.3, **knobs})
    banks = sorted({(row["archive"], row["competition"], row["question_id"]) for row in rows})
    for bank in banks:
        members = [r for r in rows if (r["archive"], r["competition"], r["question_id"]) == bank]
        # Votes that all agree, or nearly all: without them no policy ever stops.
        if rng.random() < 0.5:
            agreed = rng.choice(ANSWERS)
            for row in members:
                if rng.random() < 0.9:
                    row["finish_reason"] = "stop"
                    row["text"] = "\\boxed{" + rng.choice(agreed) + "}"
        if rng.random() < 0.3:
            for row in members:
                row["text"] = row["text"] and row["text"].replace("\\boxed{", "\\\\boxed{")
        # Choices that are shuffled anew in each attempt, banks without any reference, blank ones.
        kind = rng.choice(("kept", "kept", "shuffled", "none", "blank"))
        for row in members:
            if kind == "shuffled":
                row["references"] = [rng.choice(rng.choice(ANSWERS))]
            elif kind in ("none", "blank"):
                row["references"] = None if kind == "none" else ["", " "]
    for archive in sorted({row["archive"] for row in rows}) if not labelled else []:
        if rng.random() < 0.2:
            for row in rows:
                if row["archive"] == archive:
                    row["correct"] = None
    return rows


def awkward_settings(rng: random.Random) -> Row:
    """Random settings with policies and curve points, few replicates and few orders among them."""
    return {
        **random_settings(rng),
        "orders": rng.choice((0, 1, 2, 3, 5)),
        "replicates": rng.choice((0, 1, 2, 9, 40)),
        "policies": rng.choice(("all", "all", (), ("decided",), rng.sample(POLICIES, 2))),
        "curve_points": rng.choice((0, 2, 3, 7, 30, 200)),
    }
