"""What becomes of the attempt that strict cuts, checkpoint by checkpoint."""

from typing import Any

from tests.reference.answers import slow_normalize
from tests.reference.labels import accepted_references, read_attempts
from tests.reference.replays import SELECTORS, ballot, select, walk

Row = dict[str, Any]
TERMINALS = ("none", "standing", "forced", "forced_if_empty", "forced_after")
KEY = ("archive", "competition", "question_id", "seed")


def label(checkpoint: Row, row: Row, rows: list[Row], attempts: dict[tuple, Row]) -> bool | None:
    """The checkpoint's own label, or what references and equal answers say."""
    if checkpoint["correct"] is not None:
        return checkpoint["correct"]
    answer = slow_normalize(checkpoint["answer"])
    problem = [
        r
        for r in rows
        if (r["competition"], r["question_id"]) == (row["competition"], row["question_id"])
    ]
    mine = accepted_references(row, problem)
    right = [r for r in problem if r["correct"]]
    same = [r for r in right if accepted_references(r, problem) == mine]
    answers = {attempts[tuple(r[k] for k in KEY)]["answer"] for r in same} - {None}
    if answer is not None and answer in mine | answers:
        return True
    return False if right or any(accepted_references(r, problem) for r in problem) else None


def found(checkpoints: list[Row], terminal: str, rest: int) -> Row | None:
    """The checkpoint that a terminal finds where the budget pays for so many tokens more."""
    if terminal == "standing":
        able = [c for c in checkpoints if c["kind"] == "written" and c["tokens"] <= rest]
    elif terminal == "forced_after":
        able = [c for c in checkpoints if c["kind"] == "asked" and c["tokens"] <= rest]
    else:
        asked = [c for c in checkpoints if c["kind"] == "asked"]
        able = [c for c in asked if c["tokens"] + c["cost"] <= rest]
    return max(able, key=lambda c: c["tokens"], default=None) if terminal != "none" else None


def compute(
    rows: list[Row], sequences: dict[tuple, list[Row]], settings: Row
) -> tuple[list[Row], list[Row]]:
    """The rows of terminal_replays and terminal_selections, both by key."""
    attempts = {tuple(a[k] for k in KEY): a for a in read_attempts(rows)}
    by_key = {tuple(row[k] for k in KEY): row for row in rows}
    primary = settings["primary_selector"]
    replays, selections = [], []
    for (*bank, repeat), order in sequences.items():
        is_graded = order[0]["correct"] is not None
        for budget in settings["budgets"]:
            run = walk(order, settings["primary_cap"], budget, "strict")
            before = sum(attempt["cost"] for attempt in run.pool)
            for terminal in TERMINALS:
                cut = run.launched[-1] if len(run.launched) > len(run.pool) else None
                is_empty = not any(ballot(a, primary) is not None for a in run.pool)
                if terminal == "forced_if_empty" and not is_empty:
                    cut = None
                taken = None
                if cut is not None:
                    row = by_key[tuple(cut[k] for k in KEY)]
                    taken = found(row["checkpoints"], terminal, budget - before)
                answer = slow_normalize(taken["answer"]) if taken else None
                pool, right = run.pool, None
                if answer is not None:
                    right = label(taken, row, rows, attempts)
                    joins = {"answer": answer, "archive_answer": answer, "seed": cut["seed"]}
                    joins |= {"finish_reason": "stop", "eligible": True, "mean_logprob": None}
                    pool = [*pool, joins | {"scores": {}, "correct": bool(right)}]
                votes = [a for a in pool if ballot(a, primary) is not None]
                place = dict(zip(KEY[:3], bank, strict=True)) | {"repeat": repeat}
                place |= {"budget": budget, "terminal": terminal}
                replays.append(
                    place
                    | {
                        "returned": len(run.pool),
                        "admitted_at": taken["tokens"] if answer is not None else None,
                        "eligible": len(votes),
                        "cost": run.spent
                        + (taken["cost"] if taken and terminal == "forced_after" else 0),
                        "covered": any(a["correct"] for a in votes) if is_graded else None,
                        "is_cut": len(run.launched) > len(run.pool),
                        "is_undecided": right is None,
                    }
                )
                for selector in settings.get("selectors", SELECTORS):
                    chosen = select(pool, selector, order)
                    is_checkpoint = chosen is not None and len(pool) > len(run.pool)
                    is_checkpoint = is_checkpoint and chosen is pool[-1]
                    correct = bool(chosen["correct"]) if chosen else False
                    selections.append(
                        place
                        | {
                            "selector": selector,
                            "abstained": chosen is None,
                            "seed": chosen["seed"] if chosen else None,
                            "is_checkpoint": is_checkpoint,
                            "answer": ballot(chosen, selector) if chosen else None,
                            "correct": correct if is_graded else None,
                        }
                    )
    order_of = TERMINALS.index
    for found_rows in (replays, selections):
        found_rows.sort(
            key=lambda r: (*list(r.values())[:5], order_of(r["terminal"]), r.get("selector", ""))
        )
    return replays, selections
