-- replay_scores: integer totals of a bank over its random orders, whatever the selector.
-- grain: bank_id, cap, budget, rule_id
select
    bank_id,
    cap,
    budget,
    rule_id,
    count(*) as replays,
    count(*) filter (is_covered) as covered,
    sum(launched)::bigint as launched,
    sum(eligible_count)::bigint as eligible,
    sum(completion_cost)::bigint as completion_cost,
    sum(prompt_cost)::bigint as prompt_cost,
    sum(prefix_tokens)::bigint as prefix_tokens,
from ledger
where repeat > 0
group by bank_id, cap, budget, rule_id
