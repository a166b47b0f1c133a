-- matched_cost: the advisory rule against the strict rule at the budget where it costs the same,
--     solved exactly in every replicate.
-- grain: archive, advisory_budget
select
    archive,
    advisory_budget,
    advisory_cost / replays as advisory_cost,
    strict_budget,
    strict_budget_low,
    strict_budget_high,
    strict_cost / replays as strict_cost,
    100 * advisory_correct / replays as advisory_accuracy,
    100 * strict_correct / replays as strict_accuracy,
    delta,
    delta_low,
    delta_high,
    -- The smallest margin at which two one-sided tests at 5 % would call the rules equivalent.
    greatest(abs(delta_test_low), abs(delta_test_high)) as equivalence_margin,
    is_exhausted::boolean as exhausted,
from interval_matches
order by archive, advisory_budget
