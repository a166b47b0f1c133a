"""The pipeline on one screen: every stage of a replay in the order in which it is built."""

import functools
import re

from audit.engine.sql_files import header, interval_names, text, weighings

# A stage is "folder/name" of its SQL file below `sql`; `drawn_orders` and `bootstrap_counts` are
# drawn in Python. The folder says what a stage may know.
STAGES = (
    # Names become narrow keys.
    "keys/replayed_problems",
    "keys/archives",
    "keys/problems",
    "keys/banks",
    # What an attempt costs is one number from here on.
    "keys/charges",
    "keys/step_costs",
    "keys/step_ends",
    "keys/candidates",
    "keys/candidate_scores",
    # A bank in one order is walked to the largest cap, and every selector picks from every prefix.
    "walks/walks",
    "walks/drawn_orders",
    "walks/walked_attempts",
    "walks/prefix_selections",
    "walks/eligible_attempts",
    "walks/selector_archives",
    "walks/eligible_counts",
    "walks/prefix_votes",
    "walks/prefix_weights",
    "walks/tallies",
    # A policy stops a walk by itself, as a cap of its own.
    "budgets/binomial_tails",
    "budgets/policy_positions",
    # Budget, rule and limit, which is a cap or a policy's position, end a walk at a prefix.
    "budgets/limits",
    "budgets/cap_limits",
    "budgets/primary_limits",
    "budgets/policy_limits",
    "budgets/stops",
    "budgets/primary_stops",
    "budgets/policy_rule_stops",
    # At which budgets the built-in rules return another prefix.
    "budgets/known_rules",
    "budgets/return_budgets",
    # Labels may be read from here on, never above.
    "evaluation/graded_archives",
    "evaluation/candidate_grades",
    "evaluation/coverage",
    "evaluation/ledger",
    "evaluation/primary_ledger",
    "evaluation/prompt_money",
    "evaluation/prefix_grades",
    "evaluation/correct_prefixes",
    "evaluation/replay_selections",
    "evaluation/problem_costs",
    "evaluation/problem_scores",
    "evaluation/paired_gains",
    "evaluation/changed_answers",
    "evaluation/primary_changes",
    "evaluation/changed_costs",
    "evaluation/policy_results",
    "evaluation/policy_totals",
    # Totals of a problem, and how often every replicate draws it.
    "bootstrap/bootstrap_counts",
    "bootstrap/problem_draws",
    "bootstrap/rule_totals",
    "bootstrap/paired_totals",
    "bootstrap/budget_pairs",
    "diagnostics/length_halves",
    "bootstrap/problem_strata",
    "bootstrap/problem_comparisons",
    "bootstrap/problem_policies",
    "bootstrap/at_k_totals",
    "bootstrap/frontier_totals",
    # The change between the rules at many budgets.
    "diagnostics/curve_budgets",
    "bootstrap/problem_curves",
    "bootstrap/curve_changes",
    "bootstrap/curve_gains",
    # The search for equal costs.
    "bootstrap/matching_walks",
    "bootstrap/matching_answers",
    "bootstrap/matching_archives",
    "bootstrap/replicate_matches",
    # What single tables need.
    "diagnostics/boundary_events",
    "diagnostics/paired_replays",
    "diagnostics/paired_stops",
    "diagnostics/changed_selections",
    "diagnostics/paired_labels",
    "diagnostics/order_votes",
    "diagnostics/votes_by_definition",
    "diagnostics/majority_votes",
    "diagnostics/scored_votes",
    "diagnostics/control_attempts",
    # What users query.
    "relations/orders",
    "relations/prefixes",
    "relations/replays",
    "relations/selections",
    "relations/results",
    "relations/answer_changes",
    "relations/cost_changes",
    "relations/policy_stops",
    "relations/policy_replays",
    "relations/policy_selections",
    "relations/prefix_events",
    "diagnostics/admitted_selections",
    # Totals joined with counts, and what is computed from them: one row per key.
    *(f"bootstrap/{name}" for name in weighings()),
    *(f"intervals/{name}" for name in interval_names()),
)
# Folders whose stages may not read a label, directly or through another stage.
BLIND_FOLDERS = ("keys", "walks", "budgets")
DRAWN = ("drawn_orders", "bootstrap_counts")
STAGE_NAMES = tuple(stage.rpartition("/")[2] for stage in STAGES)


def _is_portioned(name: str) -> bool:
    """Whether a stage reads one portion of the walks; a test compares with what is parsed."""
    return name not in DRAWN and "getvariable('first_walk')" in text(name)


# Stages that need one bank at a time. They are built for a few banks at once, to bound memory:
# each reads the walks from the variable `first_walk` to the variable `last_walk`.
PORTIONED = tuple(name for name in STAGE_NAMES if _is_portioned(name))
# Stages that are kept as tables: their header says so. All others are views.
TABLES = tuple(
    name
    for name in STAGE_NAMES
    if name in (*PORTIONED, *DRAWN) or header(name).get("kept") == "table"
)
# What a replay may change while its walks stay, as files name it: relations, and the plug-ins that
# a template is filled with.
ASKED = {"budgets", "caps", "settings", "rules", "policies", "used_rules", "used_policies"}


@functools.cache
def _is_budgeted(name: str) -> bool:
    """Whether a replay with the same walks may change a stage, directly or through another; a test
    compares with what is parsed."""
    if name in DRAWN:
        # Counts are drawn with settings of the bootstrap, orders with those of the walks.
        return name == "bootstrap_counts"
    words = {*re.findall(r"\w+", re.sub("--.*", "", text(name)))}
    before = STAGE_NAMES[: STAGE_NAMES.index(name)]
    return bool(words & ASKED) or any(_is_budgeted(other) for other in before if other in words)


BUDGETED = tuple(name for name in TABLES if _is_budgeted(name))
# Tables that depend on no budget, rule or policy: a replay with the same walks keeps them.
WALKED = (
    *(name for name in TABLES if name not in BUDGETED),
    "walk_settings",
)
# Prefixes that are walked at a time: enough to keep all cores busy, few enough for little memory.
PORTION_ROWS = 2_000_000
# Run settings are tables, visible and joinable.
SETTING_RELATIONS = (
    "settings",
    "budgets",
    "caps",
    "repeats",
    "used_rules",
    "used_selectors",
    "used_policies",
    "used_scores",
    "unit",
    "prices",
    "archive_filters",
    "competition_filters",
    "problem_filters",
)
REPLAY_RELATIONS = (*SETTING_RELATIONS, "walk_settings", *STAGE_NAMES)
# What is complete only once the boundary attempts have been tokenized.
TOKEN_RELATIONS = {"prefix_events", "admitted_selections"}
