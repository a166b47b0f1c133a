"""The pipeline on one screen: every stage of a replay in the order in which it is built."""

# Every stage of a replay in the order in which it is built: a relation, and how it is kept.
# `order_slots` and `weights` are drawn in Python; all else is the SQL file of that name.
PIPELINE = (
    ("archives", "table"),
    ("problems", "table"),
    ("banks", "table"),
    ("candidates", "table"),
    ("walks", "table"),
    ("order_slots", "drawn"),
    ("paths", "view"),
    ("reach", "view"),
    ("steps", "table"),
    ("choices", "table"),
    ("pickable", "table"),
    ("eligible", "view"),
    ("selector_archives", "view"),
    ("states", "table"),
    ("budgeted_steps", "view"),
    ("crossings", "view"),
    ("stops", "table"),
    ("boundary_events", "view"),
    # Labels may be read from here on, never above.
    ("candidate_grades", "table"),
    ("coverage", "table"),
    ("ledger", "view"),
    ("picks", "view"),
    ("replay_scores", "table"),
    ("selection_scores", "table"),
    ("weights", "drawn"),
    ("archive_weights", "view"),
    ("replicate_costs", "view"),
    ("replicate_scores", "view"),
    ("paired_costs", "view"),
    ("paired_scores", "view"),
    ("paired_picks", "view"),
    ("paired_replays", "view"),
    ("segments", "view"),
    ("interpolations", "view"),
    ("halves", "view"),
    ("ballots", "view"),
    ("elections", "view"),
    ("control_steps", "view"),
    ("orders", "view"),
    ("prefixes", "view"),
    ("replays", "view"),
    ("selections", "view"),
    # Of generated fields and token counts alone; here because those need not be there.
    ("prefix_events", "view"),
    ("prefix_selections", "view"),
)
FIRST_LABELLED = "candidate_grades"
# What a walk's bank alone decides: with many orders, built some banks at a time.
PORTIONED = (
    "steps",
    "choices",
    "pickable",
    "states",
    "stops",
    "coverage",
    "replay_scores",
    "selection_scores",
)
# Prefixes or stops that are built at a time: enough to keep all cores busy, few enough for little
# memory.
PORTION_ROWS = 2_000_000
SETTING_RELATIONS = ("settings", "budgets", "caps", "repeats", "rules", "selectors")
REPLAY_RELATIONS = (*SETTING_RELATIONS, *(name for name, _ in PIPELINE))
# What is complete only once the boundary attempts have been tokenized.
TOKEN_RELATIONS = {"prefix_events", "prefix_selections"}
