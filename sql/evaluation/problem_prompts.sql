-- problem_prompts: the prompt tokens of a problem's random orders at the primary cap, and what is
--     paid for attempts that are not returned.
-- grain: bank_id, budget, rule
-- kept: on demand by walks
select
    bank_id,
    budget,
    rule,
    sum(prompt_tokens)::bigint as prompt_tokens,
    sum(prefix_cost)::bigint as prefix_cost,
from primary_ledger
where
    repeat > 0
    and walk_id between coalesce(getvariable('first_walk'), 0)
    and coalesce(getvariable('last_walk'), 9223372036854775807)
group by bank_id, budget, rule
