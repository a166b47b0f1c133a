-- matched_cost: the advisory rule against the strict rule at the budget where it costs the same, solved exactly in every replicate.
-- grain: archive, advisory_budget
with differences as (
    select
        *,
        100 * (advisory_correct - strict_correct) / replays as delta,
    from matched_replicates
),
intervals as (
    select
        archive,
        advisory_budget,
        quantile_cont(strict_budget::double, [0.025, 0.975]) as budget_ends,
        quantile_cont(delta, [0.025, 0.975]) as delta_ends,
        quantile_cont(delta, [0.05, 0.95]) as test_ends,
    from differences
    where replicate > 0
    group by archive, advisory_budget
)
select
    archive,
    advisory_budget,
    advisory_cost / replays as advisory_cost,
    strict_budget,
    budget_ends[1] as strict_budget_low,
    budget_ends[2] as strict_budget_high,
    strict_cost / replays as strict_cost,
    100 * advisory_correct / replays as advisory_accuracy,
    100 * strict_correct / replays as strict_accuracy,
    delta,
    delta_ends[1] as delta_low,
    delta_ends[2] as delta_high,
    -- The smallest margin at which two one-sided tests at 5 % would call the rules equivalent.
    greatest(abs(test_ends[1]), abs(test_ends[2])) as equivalence_margin,
    is_exhausted as exhausted,
from differences
left join intervals using (archive, advisory_budget)
where replicate = 0
order by archive, advisory_budget
