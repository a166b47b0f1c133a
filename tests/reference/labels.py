"""Records into attempts: answers, accepted references, and labels that may be missing."""

import math
from collections.abc import Mapping
from typing import Any

from tests.reference.answers import slow_box, slow_normalize
from tests.reference.units import merged, prompts_of, step_cost

Row = dict[str, Any]
KEY = ("archive", "competition", "question_id", "seed")


def settle_labels(rows: list[Row], unlabelled: str | None) -> list[Row]:
    """The rows with every label of an archive or none; some missing must be ruled upon."""
    settled = []
    for archive in {row["archive"] for row in rows}:
        mine = [row for row in rows if row["archive"] == archive]
        missing = [row for row in mine if row.get("correct") is None]
        if 0 < len(missing) < len(mine):
            if unlabelled == "wrong":
                mine = [row | {"correct": bool(row.get("correct"))} for row in mine]
            elif unlabelled == "drop":
                holes = {(row["competition"], row["question_id"]) for row in missing}
                mine = [r for r in mine if (r["competition"], r["question_id"]) not in holes]
            else:
                raise ValueError(f"{archive}: {len(missing)} of {len(mine)} labels are missing")
        settled += mine
    return settled


def own_references(row: Row) -> set[str | None]:
    """The normalized references of one row; one of which nothing is left is none."""
    return {slow_normalize(form) for form in row.get("references") or []} - {None}


def accepted_references(row: Row, rows: list[Row]) -> set[str | None]:
    """An attempt's own references, else those of its bank, else those of all archives."""
    problem = [
        other
        for other in rows
        if (other["competition"], other["question_id"]) == (row["competition"], row["question_id"])
    ]
    bank = [other for other in problem if other["archive"] == row["archive"]]
    for group in ([row], bank, problem):
        forms = set().union(*(own_references(other) for other in group))
        if forms:
            return forms
    return set()


def read_attempts(
    rows: list[Row],
    unlabelled: str | None = None,
    unit: str = "completion",
    prices: Mapping[str, tuple[Any, Any, Any]] | None = None,
    answer: str = "boxed",
) -> list[Row]:
    """The attempts with their labels, sorted by key; slot is the rank of the seed in its bank.

    In an archive without labels, correct and repaired_correct are None. `steps` holds what its
    steps cost in the unit, `cost` their sum.
    """
    answer_kind = answer
    rows = settle_labels(rows, unlabelled)
    rows = sorted(rows, key=lambda row: [row[column] for column in KEY])
    by_problem: dict[tuple, list[Row]] = {}
    for row in rows:
        by_problem.setdefault((row["competition"], row["question_id"]), []).append(row)
    attempts: list[Row] = []
    taken: dict[tuple, int] = {}
    for row in rows:
        bank = (row["archive"], row["competition"], row["question_id"])
        raw = slow_box(row["text"]) if row.get("text") is not None else row.get("boxed_answer")
        answer = slow_normalize(raw) if answer_kind == "boxed" else None
        is_finished = row["finish_reason"] == "stop"
        steps = row.get("steps") or [row]
        own = prices[row["archive"]] if prices else None
        paid = [step_cost(step, unit, own) for step in steps]
        costs = merged(paid)
        sums = {
            name: sum(step.get(name) or 0 for step in steps)
            for name in ("prompt_tokens", "completion_tokens")
        }
        logprob = row.get("mean_logprob")
        label = row.get("correct")
        is_accepted = answer in accepted_references(row, by_problem[bank[1:]])
        attempts.append(
            {
                "archive": row["archive"],
                "competition": row["competition"],
                "question_id": row["question_id"],
                "seed": row["seed"],
                "slot": taken.get(bank, 0),
                **sums,
                "finish_reason": row["finish_reason"],
                "answer": answer,
                "archive_answer": (
                    slow_normalize(row.get("archive_answer")) if answer_kind == "boxed" else None
                ),
                "mean_logprob": logprob if logprob is not None and math.isfinite(logprob) else None,
                "eligible": is_finished and (answer is not None or answer_kind == "none"),
                "cost": sum(costs),
                "steps": costs,
                "step_prompts": prompts_of(steps, paid),
                "scores": {
                    name.removeprefix("score_"): value
                    for name, value in row.items()
                    if name.startswith("score_") and value is not None and math.isfinite(value)
                },
                "bank": bank,
                "correct": None if label is None else bool(label),
                "repaired_correct": None if label is None else bool(label) or is_accepted,
            }
        )
        taken[bank] = taken.get(bank, 0) + 1
    return attempts
