"""The whole protocol once more, slowly: every replay walks its attempts, every pool votes anew.

Nothing here comes from the package. Sums stay integers until the last division, so that a
difference from the engine is the engine's and not a rounding error's.

`answers` reads boxes, `labels` makes attempts of records, `replays` runs a controller and votes,
`policies` are controllers that stop by themselves, `paper` has the study's tables, `beyond` those
past it, `reporting` what to report; here they are put together.
"""

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy

from tests.reference import beyond, paper, reporting
from tests.reference.answers import closing_brace, slow_box, slow_normalize, tex_tokens
from tests.reference.labels import read_attempts
from tests.reference.policies import POLICIES, policy_walk, stop_position, tally
from tests.reference.replays import ALL_RULES, RULES, SELECTORS, Run, ballot, select, walk
from tests.reference.units import SCALES, printed

__all__ = [
    "ALL_RULES", "BEYOND_RELATIONS", "BEYOND_TABLES", "KEYS", "POLICIES", "RULES", "SELECTORS",
    "Run", "ballot", "closing_brace", "compute", "ordered_attempts", "policy_walk",
    "read_attempts", "select",
    "slow_box", "slow_normalize", "stop_position", "tally", "tex_tokens", "walk",
]  # fmt: skip

Row = dict[str, Any]

BEYOND_RELATIONS = {
    "answer_changes": "archive competition question_id rule selector budget",
    "cost_changes": "archive competition question_id rule budget",
    "tallies": "archive competition question_id repeat position",
    "policy_stops": "archive competition question_id repeat cap policy",
    "policy_replays": "archive competition question_id repeat cap policy budget rule",
    "policy_selections": "archive competition question_id repeat cap policy budget rule selector",
}
BEYOND_TABLES = {
    "budget_curve": "archive budget",
    "matched_cost": "archive advisory_budget",
    "order_noise": "archive budget",
    "archive_comparisons": "archive other rule budget",
    "answer_agreement": "archive budget",
    "policies": "archive policy rule budget",
    "at_k": "archive k",
    "spending": "archive budget rule",
    "frontier": "archive policy rule budget",
    "power": "archive other rule budget",
}
KEYS = {
    "attempts": "archive competition question_id seed",
    "grades": "archive competition question_id seed",
    "orders": "competition question_id bank_size repeat position",
    "prefixes": "archive competition question_id repeat position",
    "replays": "archive competition question_id repeat cap budget rule",
    "selections": "archive competition question_id repeat cap budget rule selector",
    "main": "archive budget",
    "curves": "archive budget rule",
    "selectors": "archive budget selector",
    "by_competition": "archive competition budget",
    "transitions": "archive budget selector",
    "selection_events": "archive budget selector competition question_id repeat",
    "cost_comparisons": "archive advisory_budget strict_budget",
    "interpolation": "archive advisory_budget",
    "prefix_cost": "archive budget",
    "pools": "archive budget",
    "cap_sensitivity": "archive budget cap",
    "grading": "archive budget",
    "grade_conflicts": "archive competition question_id answer",
    "grade_repairs": "archive",
    "length_strata": "archive stratum budget",
    "truncation_floor": "archive budget",
    "source_audit": "archive competition",
    "controls": "control selector",
    **BEYOND_RELATIONS,
    **BEYOND_TABLES,
}


def draw_orders(
    banks: dict[tuple, list[Row]], orders: int, order_seed: int = 20260904
) -> dict[tuple, list[int]]:
    """The slots of every order, by competition, question_id, bank size and repeat."""
    competitions = sorted({competition for _, competition, _ in banks})
    slots = {}
    for competition, question, size in {(*bank[1:], len(banks[bank])) for bank in banks}:
        for repeat in range(orders + 1):
            seeds = [order_seed, competitions.index(competition), question, repeat]
            rng = numpy.random.default_rng(numpy.random.SeedSequence(seeds))
            permutation = rng.permutation(size).tolist() if repeat > 0 else list(range(size))
            slots[competition, question, size, repeat] = permutation
    return slots


def sequences_of(
    banks: dict[tuple, list[Row]], slots: dict[tuple, list[int]]
) -> dict[tuple, list[Row]]:
    """The attempts of every bank in every order, by bank and repeat."""
    return {
        (*bank, repeat): [members[slot] for slot in order]
        for bank, members in banks.items()
        for (*problem, size, repeat), order in slots.items()
        if (*problem, size) == (*bank[1:], len(members))
    }


def ordered_attempts(
    rows: list[Row], orders: int, unlabelled: str | None = None
) -> dict[tuple, list[Row]]:
    """The attempts of canonical rows in every order, by bank and repeat."""
    banks: dict[tuple, list[Row]] = {}
    for attempt in read_attempts(rows, unlabelled):
        banks.setdefault(attempt["bank"], []).append(attempt)
    return sequences_of(banks, draw_orders(banks, orders))


def ledger(run: Run, primary_selector: str) -> Row:
    """What a row of replays says of one run; covered is None where labels are missing."""
    eligible = [a for a in run.pool if ballot(a, primary_selector) is not None]
    is_graded = run.launched[0]["correct"] is not None
    return {
        "launched": len(run.launched),
        "returned": len(run.pool),
        "eligible": len(eligible),
        "cost": run.spent,
        "prompt_tokens": run.prompts,
        "prefix_cost": run.prefix,
        "covered": any(attempt["correct"] for attempt in eligible) if is_graded else None,
    }


def selection(run: Run, selector: str, bank: list[Row]) -> Row:
    """What a row of selections says of one run; an abstention is wrong where labels are known."""
    chosen = select(run.pool, selector, bank)
    vote = ballot(chosen, selector) if chosen else None
    wrong = None if run.launched[0]["correct"] is None else False
    return {
        "selector": selector,
        "abstained": chosen is None,
        "seed": chosen["seed"] if chosen else None,
        "answer": vote if isinstance(vote, str) else None,
        "vote": vote,
        "correct": chosen["correct"] if chosen else wrong,
        "repaired_correct": chosen["repaired_correct"] if chosen else wrong,
    }


def compute(
    rows: list[Row],
    *,
    budgets: Sequence[int],
    caps: Sequence[int],
    primary_cap: int,
    orders: int,
    order_seed: int = 20260904,
    primary_selector: str = "majority",
    replicates: int,
    bootstrap_seed: int = 20260905,
    policies: Sequence[str] | str = (),
    curve_points: int = 200,
    unlabelled: str | None = None,
    unit: str = "completion",
    prices: Mapping[str, tuple[Any, Any, Any]] | None = None,
    rules: Sequence[str] | str = RULES,
    selectors: Sequence[str] = SELECTORS,
    answer: str = "boxed",
    effect: float = 3,
) -> dict[str, list[Row]]:
    """Every relation and table of the interface (prefix_boxes aside) as rows sorted by key."""
    budgets = sorted(set(budgets))
    caps = sorted({*caps, primary_cap})
    asked = POLICIES if policies == "all" else policies
    names = sorted({*asked, "none"} if asked else ())
    ruled = sorted({*(ALL_RULES if rules == "all" else rules), *RULES})
    chosen = sorted({*selectors, primary_selector})
    out: dict[str, list[Row]] = {name: [] for name in KEYS}
    banks: dict[tuple, list[Row]] = {}
    for attempt in read_attempts(rows, unlabelled, unit, prices, answer):
        banks.setdefault(attempt["bank"], []).append(attempt)
        labels = {name: attempt[name] for name in ("correct", "repaired_correct")}
        key = {column: attempt[column] for column in KEYS["grades"].split()}
        out["grades"].append(key | labels)
        hidden = {"bank", "cost", "steps", "step_prompts", "scores", *labels}
        out["attempts"].append({k: v for k, v in attempt.items() if k not in hidden})
    problems = sorted({bank[1:] for bank in banks})
    competitions = sorted({competition for competition, _ in problems})

    slots = draw_orders(banks, orders, order_seed)
    for (competition, question, size, repeat), permutation in slots.items():
        for position, slot in enumerate(permutation, 1):
            out["orders"].append(
                {
                    "competition": competition,
                    "question_id": question,
                    "bank_size": size,
                    "repeat": repeat,
                    "position": position,
                    "slot": slot,
                }
            )

    sequences = sequences_of(banks, slots)
    cells: dict[tuple, Row] = {}
    policy_replays: dict[tuple, Row] = {}  # both by bank, repeat, policy, budget and rule
    policy_choices: dict[tuple, Row] = {}
    for (*bank, repeat), order in sequences.items():
        place = {"archive": bank[0], "competition": bank[1], "question_id": bank[2]}
        place["repeat"] = repeat
        for position in range(min(len(order), max(caps)) + 1):
            prefix = order[:position]
            votes = [ballot(attempt, primary_selector) for attempt in prefix]
            out["prefixes"].append(
                {
                    **place,
                    "position": position,
                    "seed": prefix[-1]["seed"] if prefix else None,
                    "cost": prefix[-1]["cost"] if prefix else 0,
                    "cumulative_cost": sum(attempt["cost"] for attempt in prefix),
                    "eligible_count": len(votes) - votes.count(None),
                }
            )
            if position > 0:
                known = tally(prefix, primary_selector)
                out["tallies"].append(
                    {**place, "position": position, **known, "bank_size": len(order)}
                )
        for cap, budget, rule in itertools.product(caps, budgets, ruled):
            run = walk(order, cap, budget, rule)
            here = place | {"cap": cap, "budget": budget, "rule": rule}
            cells[*here.values(), None] = here | ledger(run, primary_selector)
            out["replays"].append(cells[*here.values(), None])
            for selector in chosen:
                cells[*here.values(), selector] = here | selection(run, selector, order)
                out["selections"].append(cells[*here.values(), selector])
        for cap, policy in itertools.product(caps, names):
            stop = stop_position(order, cap, policy, primary_selector)
            out["policy_stops"].append(
                {**place, "cap": cap, "policy": policy, "stop_position": stop}
            )
        for policy, budget, rule in itertools.product(names, budgets, ruled):
            run = policy_walk(order, primary_cap, budget, rule, policy, primary_selector)
            here = place | {"cap": primary_cap, "policy": policy, "budget": budget, "rule": rule}
            key = (*bank, repeat, policy, budget, rule)
            out["policy_replays"].append(here | ledger(run, primary_selector))
            policy_replays[key] = out["policy_replays"][-1] | {"stopped_by": run.stopped_by}
            policy_choices[key] = selection(run, primary_selector, order)
            out["policy_selections"] += [here | selection(run, s, order) for s in chosen]

    drawn: dict[tuple, list[int]] = {}  # problem -> its count in each replicate
    rng = numpy.random.default_rng(bootstrap_seed)
    for competition in competitions:
        stratum = [problem for problem in problems if problem[0] == competition]
        n = len(stratum)
        draws = rng.multinomial(n, [1 / n] * n, size=replicates)
        drawn |= {problem: draws[:, column].tolist() for column, problem in enumerate(stratum)}

    archives = []
    for name in sorted({bank[0] for bank in banks}):
        mine = {bank: banks[bank] for bank in sorted(banks) if bank[0] == name}
        weights = [[drawn[bank[1:]][at] for bank in mine] for at in range(replicates)]
        archive = paper.Archive(
            name,
            mine,
            {key: order for key, order in sequences.items() if key[0] == name},
            {key: row for key, row in cells.items() if key[0] == name},
            weights,
            budgets,
            caps,
            primary_cap,
            primary_selector,
            orders,
            ruled,
            chosen,
            unit == "completion",
        )
        archives.append(archive)
        unrated = () if archive.is_graded else paper.NEED_LABELS
        for whole in paper.PER_ARCHIVE:
            if whole not in unrated:
                out[whole.__name__] += [{"archive": name, **row} for row in whole(archive)]
        for table in (*(paper.PER_BUDGET if orders > 0 else ()), paper.cap_sensitivity):
            across = table in (paper.cost_comparisons, paper.interpolation)
            for budget in budgets if table not in unrated else ():
                key = {"archive": name, "advisory_budget" if across else "budget": budget}
                out[table.__name__] += [key | row for row in table(archive, budget)]
        if orders > 0:
            answer_changes, cost_changes = beyond.changes(archive)
            found = {
                "answer_changes": answer_changes,
                "cost_changes": cost_changes,
                "budget_curve": beyond.budget_curve(archive, curve_points),
                "matched_cost": beyond.matched_cost(archive),
                "order_noise": beyond.order_noise(archive),
                "answer_agreement": beyond.answer_agreement(archive),
                "at_k": reporting.at_k(archive),
                "spending": reporting.spending(archive),
                "policies": beyond.policies(archive, policy_replays, policy_choices, names),
            }
            for table_name, table_rows in found.items():
                out[table_name] += [{"archive": name, **row} for row in table_rows]
    out["controls"] += paper.controls(archives)
    if orders > 0:
        out["archive_comparisons"] += beyond.archive_comparisons(archives)
        out["frontier"] += reporting.frontier(archives, policy_replays, policy_choices, names)
        out["power"] += reporting.power(archives, Fraction(str(effect)))
    for name, found_rows in out.items():
        keys = KEYS[name].split()
        # Null first.
        found_rows.sort(key=lambda row, keys=keys: [(row[k] is not None, row[k]) for k in keys])
        shown = [{k: v for k, v in row.items() if k != "vote"} for row in found_rows]
        ordered = [{key: row[key] for key in keys} | row for row in shown]
        out[name] = [printed(row, SCALES[unit]) for row in ordered]
    return out
