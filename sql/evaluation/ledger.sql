-- ledger: what one replay launched, returned, paid and covered, under narrow keys.
-- grain: rule, walk_id, cap, budget
select
    stops.rule,
    stops.walk_id,
    coverage.bank_id,
    coverage.repeat,
    stops.cap,
    stops.budget,
    stops.launched,
    stops.returned,
    stops.cost,
    launched.cumulative_prompt as prompt_tokens,
    stops.cost - returned.cumulative_cost as prefix_cost,
    case when coverage.is_graded then coalesce(coverage.covered_from <= stops.returned, false) end as is_covered,
    stops.launched_prefix_id,
    stops.returned_prefix_id,
from {{ stops | default('stops') }} as stops
inner join coverage on stops.walk_id = coverage.walk_id
inner join walked_attempts as launched on stops.launched_prefix_id = launched.prefix_id
inner join walked_attempts as returned on stops.returned_prefix_id = returned.prefix_id
