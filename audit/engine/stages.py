"""The pipeline on one screen: every stage of a replay in the order in which it is built."""

from audit.engine.sql_files import list_interval_files, read_header

# A stage is "folder/name" of its SQL file below `sql`; `drawn_orders` and `bootstrap_counts` are
# drawn in Python. The folder decides what a stage may read.
STAGES = (
    # Names become narrow keys.
    "keys/replayed_problems",
    "keys/archives",
    "keys/problems",
    "keys/banks",
    # From here on, the cost of an attempt is one number.
    "keys/charges",
    "keys/step_costs",
    "keys/step_ends",
    "keys/candidates",
    "keys/candidate_scores",
    # A bank in one order is walked as far as the budgets reach, and selectors pick on the way.
    "walks/walks",
    "walks/canonical_attempts",
    "walks/eligible_attempts",
    "walks/selector_archives",
    "walks/reach",
    "walks/drawn_orders",
    "walks/walked",
    "walks/walked_attempts",
    "walks/primary_picks",
    "walks/other_picks",
    "walks/picks",
    "walks/picked_slots",
    "walks/eligible_counts",
    # Before what is built of whole walks, so that this can be built together.
    "diagnostics/curve_budgets",
    # Whole walks, beyond any budget, are built only when they are needed.
    "walks/whole_reach",
    "walks/whole_walked",
    "walks/whole_attempts",
    "walks/whole_primary_picks",
    "walks/whole_other_picks",
    "walks/whole_picks",
    "walks/prefix_votes",
    "walks/tallies",
    # A policy stops a walk by itself, as a cap of its own.
    "budgets/binomial_tails",
    "budgets/policy_positions",
    # Budget, rule and limit, which is a cap or a policy's position, end a walk at a prefix.
    "budgets/policy_limits",
    "budgets/stops",
    "budgets/primary_stops",
    "budgets/policy_rule_stops",
    # At which budgets the built-in rules return another prefix.
    "budgets/known_rules",
    "budgets/return_budgets",
    # Terminals: a checkpoint of the attempt that strict cuts may join the pool.
    "terminals/keyed_checkpoints",
    "terminals/openings",
    "terminals/admissions",
    "terminals/admitted_pools",
    "terminals/pool_attempts",
    "terminals/pool_walks",
    "terminals/primary_pool_picks",
    "terminals/other_pool_picks",
    "terminals/whole_pools",
    "terminals/whole_pool_attempts",
    "terminals/whole_pool_walks",
    "terminals/whole_primary_pool_picks",
    # Labels may be read from here on, never above.
    "evaluation/graded_archives",
    "evaluation/candidate_grades",
    "evaluation/coverage",
    "evaluation/ledger",
    "evaluation/primary_ledger",
    "evaluation/correct_picks",
    "evaluation/problem_costs",
    "evaluation/problem_prompts",
    "evaluation/other_answers",
    "evaluation/primary_scores",
    "evaluation/other_scores",
    "evaluation/problem_scores",
    "evaluation/primary_gains",
    "evaluation/paired_gains",
    "evaluation/primary_changes",
    "evaluation/cost_events",
    "evaluation/policy_totals",
    "evaluation/admitted_grades",
    "evaluation/terminal_stops",
    "evaluation/primary_choices",
    "evaluation/opening_runs",
    "evaluation/terminal_changes",
    # Totals of a problem, and how often every replicate draws it.
    "bootstrap/bootstrap_counts",
    "bootstrap/problem_draws",
    "bootstrap/replicate_counts",
    "bootstrap/rule_totals",
    "bootstrap/paired_totals",
    "bootstrap/budget_pairs",
    "bootstrap/problem_strata",
    "bootstrap/problem_comparisons",
    "bootstrap/problem_policies",
    "bootstrap/at_k_totals",
    "bootstrap/frontier_totals",
    "bootstrap/terminal_totals",
    "bootstrap/card_totals",
    # The change between the rules at many budgets.
    "bootstrap/problem_curves",
    "bootstrap/curve_gains",
    # The search for equal costs.
    "bootstrap/matching_walks",
    "bootstrap/matching_answers",
    "bootstrap/spending_totals",
    "bootstrap/walk_blocks",
    "bootstrap/block_costs",
    "bootstrap/answer_blocks",
    "bootstrap/matching_keys",
    "bootstrap/replicate_matches",
    "bootstrap/terminal_answers",
    "bootstrap/terminal_blocks",
    "bootstrap/replicate_terminal_cost",
    # What single tables need.
    "diagnostics/paired_replays",
    "diagnostics/paired_stops",
    "diagnostics/changed_selections",
    "diagnostics/order_votes",
    "diagnostics/votes_by_definition",
    "diagnostics/control_attempts",
    # What users query.
    "relations/orders",
    "relations/prefixes",
    "relations/replays",
    "relations/selections",
    "relations/results",
    "relations/pairs",
    "relations/answer_changes",
    "relations/cost_changes",
    "relations/policy_stops",
    "relations/policy_replays",
    "relations/policy_selections",
    "relations/prefix_events",
    "relations/terminal_replays",
    "relations/terminal_selections",
    # What is computed from totals joined with counts: one row per key.
    *(f"intervals/{name}" for name in list_interval_files()),
)
# Folders whose stages may not read a label, directly or through another stage.
BLIND_FOLDERS = ("keys", "walks", "budgets", "terminals")
DRAWN = ("drawn_orders", "bootstrap_counts")
STAGE_NAMES = tuple(stage.rpartition("/")[2] for stage in STAGES)


def _read_kept(name: str) -> str:
    """Return the line `-- kept:` of the header of a stage, or nothing."""
    return "" if name in DRAWN else read_header(name).get("kept", "")


# Stages that are kept as tables, and those that are views until a command asks for them
# (audit/engine/lazy.py); all others are views.
TABLES = tuple(
    name for name in STAGE_NAMES if name in DRAWN or _read_kept(name).startswith("table")
)
LAZY = tuple(
    name
    for name in STAGE_NAMES
    if name in list_interval_files() or _read_kept(name).startswith("on demand")
)
# Of both, those that are built for a few banks at once, to bound memory: each reads the walks from
# the variable `first_walk` to the variable `last_walk`, and all where there are none.
PORTIONED = tuple(name for name in STAGE_NAMES if _read_kept(name).endswith("by walks"))
# Stages that depend on no budget but the largest, which is how far orders are walked.
WALKED = (
    *DRAWN,
    *(stage.rpartition("/")[2] for stage in STAGES if stage.startswith(("keys/", "walks/"))),
)
# The settings of a replay are tables, so that SQL can join them.
SETTING_RELATIONS = (
    "settings",
    "budgets",
    "caps",
    "repeats",
    "used_rules",
    "used_selectors",
    "used_policies",
    "used_scores",
    "used_terminals",
    "unit",
    "prices",
    "archive_filters",
    "competition_filters",
    "problem_filters",
)
REPLAY_RELATIONS = (*SETTING_RELATIONS, *STAGE_NAMES)
# Relations that are incomplete until the boundary attempts have been tokenized.
TOKEN_RELATIONS = {"prefix_events"}
