"""What the report says in its own words about tables, columns, rules, selectors and figures."""

from audit import engine
from audit.output.captions import RULES
from audit.output.headings import heading
from audit.report.data import Row
from audit.text import capital

# The tables in the order in which they are read; those that are not here follow.
# fmt: off
TABLES = (
    "main", "curves", "selectors", "by_competition", "transitions", "selection_events",
    "cost_comparisons", "matched_cost", "budget_curve", "policies", "frontier", "at_k", "power",
    "archive_comparisons", "order_noise", "answer_agreement", "data_quality", "interpolation",
    "prefix_cost", "pools", "cap_sensitivity", "grading", "grade_conflicts", "grade_repairs",
    "length_strata", "truncation_floor", "majority_rules", "truncation", "prefix_boxes",
    "problems", "source_audit", "controls",
)
# fmt: on

# The rule that a tool's limit enforces.
ENFORCED_BY = {
    "strict": "vLLM max_tokens",
    "step": "mini-swe-agent, OpenHands, verifiers",
    "step_lost": "Inspect token_limit, SWE-agent cost limit",
    "attempt_lost": "thresholding finished runs",
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
        "Accuracy against realized mean cost at the budgets of the run. A diamond is strict at the "
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
        "Every policy under every rule at every budget of the run, placed by what it really cost. "
        "The dotted line joins the points that nothing cheaper reaches.",
        "A policy stops without labels; the frontier is drawn with them, after the fact, and "
        "moves with the problems.",
    ),
    "timeline": (
        "A single replay drawn to scale.",
        "An illustration of the rules, not evidence: one problem and one order.",
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
    return RULES.get(rule, "a rule of your own: see the relation used_rules") + tools


def selector_words(name: str) -> str:
    """What a selector picks, as the header of its file says."""
    if name in engine.stage_names():
        return engine.header(name)[name].removesuffix(".")
    for kind in ("best", "vote", "exp_vote"):
        if name.startswith(f"{kind}_"):
            words = engine.header(kind)[kind].removesuffix(".")
            return f"{words} (score {name.removeprefix(f'{kind}_')})"
    return "a selector of your own: see the relation used_selectors"


def purpose(name: str) -> str:
    """One line on what a table is for."""
    if name == "problems":
        return "Problems that go by a name, beside the number that the other tables show."
    return capital(engine.table_purpose(name))


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
    selectors = settings["selectors"].split(",")
    present = {(row["archive"], row["selector"]) for row in rows}
    causes = {
        "max_logprob": "no finite log-probability of an eligible attempt is recorded",
        "archive_majority": "the archive recorded no answers of its own",
    }
    return [
        f"{selector} is left out for {archive['archive']}: "
        f"{causes.get(selector, 'no attempt is eligible for it')}."
        for archive in archives
        for selector in selectors
        if (archive["archive"], selector) not in present
    ]
