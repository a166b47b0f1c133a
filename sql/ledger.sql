-- ledger: what one replay launched, returned, paid and covered, under narrow keys.
-- grain: rule_id, walk_id, cap, budget
select
    stops.rule_id,
    stops.walk_id,
    walks.bank_id,
    walks.repeat,
    stops.cap,
    stops.budget,
    stops.launched,
    stops.returned,
    last_returned.eligible_count,
    stops.completion_cost,
    last_launched.cumulative_prompt as prompt_cost,
    stops.completion_cost - last_returned.cumulative_cost as prefix_tokens,
    coalesce(coverage.covered_from <= stops.returned, false) as is_covered,
from stops
inner join walks on stops.walk_id = walks.walk_id
inner join states as last_launched on stops.walk_id + stops.launched = last_launched.walk_id + last_launched.position
inner join states as last_returned on stops.walk_id + stops.returned = last_returned.walk_id + last_returned.position
left join coverage on stops.walk_id = coverage.walk_id
