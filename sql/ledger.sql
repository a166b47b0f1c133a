-- ledger: what one replay launched, returned, paid and covered, under narrow keys.
-- grain: rule_id, bank_id, repeat, cap, budget
select
    stops.rule_id,
    stops.bank_id,
    stops.repeat,
    stops.cap,
    stops.budget,
    stops.launched,
    stops.returned,
    eligibility.eligible_count,
    stops.completion_cost,
    last_launched.cumulative_prompt as prompt_cost,
    stops.completion_cost - last_returned.cumulative_cost as prefix_tokens,
    coalesce(coverage.covered_from <= stops.returned, false) as is_covered,
from stops
inner join steps as last_launched
    on stops.bank_id = last_launched.bank_id
    and stops.repeat = last_launched.repeat
    and stops.launched = last_launched.position
inner join steps as last_returned
    on stops.bank_id = last_returned.bank_id
    and stops.repeat = last_returned.repeat
    and stops.returned = last_returned.position
inner join eligibility
    on stops.bank_id = eligibility.bank_id
    and stops.repeat = eligibility.repeat
    and stops.returned = eligibility.position
left join coverage
    on stops.bank_id = coverage.bank_id
    and stops.repeat = coverage.repeat
