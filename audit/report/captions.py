"""What the report says in its own words about tables, columns, rules, selectors and figures."""

from typing import Any

from audit.output.headings import heading

Row = dict[str, Any]

TABLES = {
    "main": "Both rules at the same budget: accuracy, coverage and what they cost. The change is "
    "advisory minus strict, paired by problem and order.",
    "curves": "Each rule's accuracy, coverage and realized cost over the budgets, with the "
    "interval of each curve (not of their difference).",
    "selectors": "The change for every selector: does the effect depend on how one answer is "
    "chosen?",
    "by_competition": "The change within each competition; no intervals, because the problems of "
    "one competition are few.",
    "transitions": "What the change is made of: abstain→correct plus wrong→correct minus "
    "correct→wrong, in points over all replays; fixes and harms are counts of replays.",
    "selection_events": "Every fix and every harm, one row each, to be looked up in the archive.",
    "cost_comparisons": "Every advisory budget against every strict budget: accuracy and realized "
    "cost differ together. Totals add prompt tokens where the unit is completion tokens.",
    "matched_cost": "Which rule is better at the same cost: advisory at each budget against the "
    "largest strict budget that costs no more, both measured; every replicate finds its own.",
    "budget_curve": "Both rules at many budgets: the change with its interval at each budget, and "
    "the band that holds the whole curve at once.",
    "policies": "Controllers that stop by themselves, without labels: accuracy and what they save "
    "against a controller that goes on until budget or limit.",
    "frontier": "Which archive, policy, rule and budget nothing beats: accuracy against cost over "
    "the problems that all archives have, and in how many replicates a point is on the frontier.",
    "at_k": "What k attempts give: pass@k (one is right), pass^k (all are) and the primary "
    "selector's accuracy on the first k.",
    "power": "Which differences these problems can show: the one that they would detect four times "
    "in five, and how many problems a difference of --effect points needs.",
    "archive_comparisons": "Which archive to buy at a budget: every pair over the problems that "
    "both have, paired.",
    "order_noise": "How many orders are enough: the error that the choice of orders leaves beside "
    "the one of the problems.",
    "answer_agreement": "What the rules do without any label: how often they answer alike.",
    "data_quality": "Whether the records fit: finished, answered, labelled, and what is odd.",
    "interpolation": "Advisory accuracy against strict on the straight line between the two strict "
    "points around its mean cost. Switched and extrapolated count bootstrap replicates.",
    "prefix_cost": "Tokens that strict stopping paid for attempts it cut, per replay, and their "
    "share of all it paid.",
    "pools": "How many eligible attempts a pool holds, how often it is empty, and how far "
    "advisory cost reaches beyond the budget in the tail (95th percentile over replays).",
    "cap_sensitivity": "The change under other limits on the number of attempts, in the archive's "
    "own (canonical) order, and its range over single random orders. The range is not a "
    "confidence interval.",
    "grading": "The change under the archive's labels and under labels repaired with the accepted "
    "references; selections are the same in both.",
    "grade_conflicts": "Answers that the archive labels both correct and incorrect within one "
    "problem.",
    "grade_repairs": "How many labels the repair adjusts and how many conflicts it settles.",
    "length_strata": "The change in the half of the problems with shorter and with longer attempts "
    "(median cost of the bank), and how much more advisory pays.",
    "truncation_floor": "Replays whose first attempt was cut off at its generation limit and costs "
    "the whole budget: neither rule can answer there.",
    "majority_rules": "The same replays scored under other definitions of a majority: how much the "
    "definition decides. Definitions that read labels are for comparison only.",
    "truncation": "How much is cut, by the budget and at the generation limit, and the accuracy "
    "if every cut attempt counts as wrong (as elsewhere) and as correct.",
    "prefix_boxes": "How often the cut prefix of an attempt already showed a boxed answer. No "
    "claim that such an answer is correct.",
    "problems": "Problems that go by a name, beside the number that the other tables show.",
    "source_audit": "What the archives recorded: attempts without a box, attempts that ended by "
    "length, and how often our box agrees with the archive's own extraction.",
    "controls": "Two checks of the pairing. Both must show zero disagreements.",
}

RULES = {
    "strict": "stops at B: the running attempt is cut, paid for, and not returned",
    "step": "lets the running step finish; the attempt is returned if that was its last step",
    "step_lost": "lets the running step finish and throws it away: paid for, and not returned",
    "advisory": "launches nothing once B is spent, and lets the running attempt finish",
    "attempt_lost": "lets the running attempt finish and returns it only if it ended within B",
}
# The rule that a tool's limit enforces.
ENFORCED_BY = {
    "strict": "vLLM max_tokens",
    "step": "mini-swe-agent, OpenHands, verifiers",
    "step_lost": "Inspect token_limit, SWE-agent cost limit",
    "attempt_lost": "thresholding finished runs",
}
SELECTORS = {
    "majority": "most frequent boxed answer, first seen wins a tie; reads finished answers and "
    "their order",
    "archive_majority": "most frequent answer as the archive extracted it, first seen wins a tie; "
    "reads those answers and their order",
    "max_logprob": "the attempt with the highest mean log-probability; reads log-probabilities of "
    "finished attempts and their order",
}

FIGURES = {
    "budget_curve": (
        "Accuracy (top) and realized cost as a multiple of B (bottom) at every budget of the table "
        "budget_curve, averaged over the random orders of each problem and then over problems; "
        "points and bars: the budgets of the run, with 95 % intervals. Shaded: where the advisory "
        "curve may lie (95 %, all budgets together). Cost below one means that the attempts ran "
        "out before the budget did.",
        "The same B is not the same cost: where the lower curves differ, the upper ones compare "
        "unequal amounts of computation. Whether the bars of two rules overlap does not decide "
        "their paired difference; where the shade touches the strict curve, they may be equal.",
    ),
    "cost_accuracy": (
        "The same points placed by what they really cost on average. A diamond is strict at the "
        "whole budget that costs what the advisory point above or below it costs.",
        "Equal mean cost is not equal cost on every problem.",
    ),
    "length_strata": (
        "The paired change in the half of each archive's problems with the shorter and with the "
        "longer attempts.",
        "The halves differ in task and difficulty, so this is not the effect of making a solution "
        "longer. An interval that reaches zero does not exclude no change; it does not show "
        "equivalence.",
    ),
    "policies": (
        "Every policy under both rules at every budget of the run, placed by what it really cost. "
        "The dotted line joins the points that nothing cheaper reaches.",
        "A policy stops without labels; the frontier is drawn with them, after the fact, and "
        "moves with the problems.",
    ),
    "timeline": (
        "A single replay drawn to scale.",
        "An illustration of the two rules, not evidence: one problem and one order.",
    ),
}

READING = (
    "The same budget B is not the same cost. Advisory may pay more than B; strict may pay for "
    "work that it discards.",
    "An interval that contains zero does not exclude no change. It does not show that two "
    "conditions are equivalent.",
    "Orders are not problems: replaying more orders steadies an average, but the intervals come "
    "from resampling problems only, and cover one interval at a time.",
    "Coverage looks at labels. It says that a correct answer was in the pool, not that anything "
    "without a label could have picked it.",
)


# Said beside numbers that rest on steps.
AGENTS = "A replay of recorded runs; an agent that is told its budget may act otherwise."


def rule_words(rule: str) -> str:
    """What a rule does, and the tools that enforce it."""
    tools = f"; enforced so by {ENFORCED_BY[rule]}" if rule in ENFORCED_BY else ""
    return RULES.get(rule, "a rule of your own: see the relation rules") + tools


def purpose(name: str, fallback: str) -> str:
    """One line on what a table is for."""
    return TABLES.get(name, fallback[:1].upper() + fallback[1:])


def empty_reason(name: str, settings: dict[str, str]) -> str:
    """Why a table has no rows."""
    reasons = {
        "policies": "No policies were replayed: budget-audit replay --policies all gives the "
        "built-in ones, --policies DIR your own.",
        "archive_comparisons": "No two archives share a problem.",
        "order_noise": "No archive has labels.",
        "interpolation": "No advisory mean cost lies between two strict mean costs.",
        "selection_events": "No selection changed between correct and incorrect.",
        "grade_conflicts": "No answer carries both labels within one archive and problem.",
        "prefix_boxes": "No boundary event was examined; budget-audit tokenize counts tokens.",
    }
    if name == "policies" and not settings.get("policies"):
        return reasons[name]
    averaged = name not in ("grade_conflicts", "grade_repairs", "source_audit", "controls")
    if averaged and settings.get("orders") == "0":
        return "No random orders were replayed (--orders 0), and this table is made of them."
    return reasons.get(name, "The loaded archives hold nothing to put here.")


def null_reasons(name: str, rows: list[Row], settings: dict[str, str]) -> list[str]:
    """Why cells of a table are empty or say nothing, one sentence for each cause met."""
    empty = {column for row in rows for column, value in row.items() if value is None}
    reasons = []
    if any(column.endswith(("_low", "_high")) for column in empty):
        reasons.append(
            "No interval: no bootstrap replicates were drawn (--replicates 0)."
            if settings.get("replicates") == "0"
            else "No interval where no replicate could be used, as for a half that none drew."
        )
    if name == "prefix_boxes" and rows and not any(row["examined"] for row in rows):
        reasons.append("No prefix was examined yet: budget-audit tokenize counts their tokens.")
    if name == "selection_events" and empty & {"strict_seed", "advisory_seed"}:
        reasons.append("No seed and no answer: the selector abstained.")
    explained = ("_low", "_high", "_seed", "_answer")
    others = sorted(column for column in empty if not column.endswith(explained))
    if others:
        columns = ", ".join(heading(column) for column in others)
        cause = (
            "no random orders were replayed"
            if settings.get("orders") == "0"
            else "nothing to average"
        )
        reasons.append(f"Empty cells under {columns}: {cause}.")
    return reasons


def missing_selectors(
    name: str, rows: list[Row], archives: list[Row], settings: dict[str, str]
) -> list[str]:
    """Which selectors an archive's rows leave out, and why."""
    if name not in ("selectors", "transitions") or not rows:
        return []
    wanted = settings.get("selectors", ",".join(SELECTORS)).split(",")
    present = {(row["archive"], row["selector"]) for row in rows}
    causes = {
        "max_logprob": "no finite log-probability of an eligible attempt is recorded",
        "archive_majority": "the archive recorded no answers of its own",
    }
    return [
        f"{selector} is left out for {archive['archive']}: "
        f"{causes.get(selector, 'no attempt is eligible for it')}."
        for archive in archives
        for selector in wanted
        if (archive["archive"], selector) not in present
    ]
