-- ledger: what one replay launched, returned, paid and covered, under narrow keys.
-- grain: rule, walk_id, cap, budget
select
    stops.rule,
    stops.walk_id,
    stops.bank_id,
    stops.repeat,
    stops.cap,
{% if stops is defined and stops == 'policy_rule_stops' %}
    stops.policy_id,
{% endif %}
    stops.budget,
    stops.launched,
    stops.returned,
    stops.cost,
    coalesce(launched.cumulative_prompt, 0) - coalesce(unbegun.prompts_left, 0) as prompt_tokens,
    coalesce(unbegun.prompts_left, 0) as unbegun_prompts,
    coalesce(unbegun.cached_left, 0) as unbegun_cached,
    stops.cost - coalesce(returned.cumulative_cost, 0) as prefix_cost,
    case when coverage.is_graded then coalesce(coverage.covered_from <= stops.returned, false) end as is_covered,
from {{ stops | default('stops') }} as stops
inner join coverage on stops.walk_id = coverage.walk_id
left join walked_attempts as launched
    on stops.walk_id = launched.walk_id
    and stops.launched = launched.position
left join walked as returned
    on stops.walk_id = returned.walk_id
    and stops.returned = returned.position
-- These rules begin no step with nothing left of the budget; most attempts have one step and no row.
asof left join step_ends as unbegun
    on launched.bank_id = unbegun.bank_id
    and launched.slot = unbegun.slot
    and case
        when stops.rule in ('strict', 'step', 'step_lost')
        then stops.budget - (launched.cumulative_cost - launched.cost)
    end <= unbegun.step_begin
