"""Columns as people read them: a name in words, and its unit."""

RATIOS = {
    "cost_ratio": "cost ratio",
    "strict_cost_ratio": "strict cost / B",
    "advisory_cost_ratio": "advisory cost / B",
    "p95_ratio": "p95 / B",
}
UNITS = {
    column: unit
    for unit, columns in {
        "%": """accuracy strict_accuracy advisory_accuracy interpolated_accuracy coverage
            strict_coverage advisory_coverage strict_abstention advisory_abstention
            advisory_one_return prefix_share replays_cut attempts_cut accuracy_cut_wrong
            accuracy_cut_correct cost_saved stopped_by_policy stopped_by_budget stopped_by_cap
            answer_kept same_answer different_answer strict_abstains both_abstain
            strict_vote_share advisory_vote_share other_accuracy share""",
        "points": """delta delta_coverage gap_change abstain_to_correct wrong_to_correct
            correct_to_wrong source_delta repaired_delta change canonical_delta order_min
            order_max band_low band_high order_error problem_error equivalence_margin""",
        "tokens": """cost strict_cost advisory_cost cost_difference advisory_total strict_total
            total_difference prefix_cost advisory_p95 extra_cost median_tokens other_cost""",
        "currency": """price strict_price advisory_price price_difference prefix_price
            extra_price""",
    }.items()
    for column in columns.split()
}


def label(column: str) -> str:
    """A column's name for people, with its unit."""
    name = RATIOS.get(column, column.replace("_", " "))
    return f"{name}, {UNITS[column]}" if column in UNITS else name
