-- transitions_sum: fixes less harms, counted replay by replay, give the change in each selector's correct answers
-- grain: one row
with counted as (
    select
        selector_id,
        bank_id,
        budget,
        count(*) filter (not is_strict_correct and is_advisory_correct)
            - count(*) filter (is_strict_correct and not is_advisory_correct) as gained,
    from paired_picks
    group by selector_id, bank_id, budget
),
scored as (
    select
        selection_scores.selector_id,
        selection_scores.bank_id,
        selection_scores.budget,
        sum(selection_scores.correct) filter (rules.rule = 'advisory')
            - sum(selection_scores.correct) filter (rules.rule = 'strict') as gained,
    from selection_scores
    inner join rules on selection_scores.rule_id = rules.rule_id
    inner join caps on selection_scores.cap = caps.cap
    where caps.is_primary
    group by selection_scores.selector_id, selection_scores.bank_id, selection_scores.budget
)
select
    count(*) as looked_at,
    count(*) filter (counted.gained is distinct from scored.gained) as violations,
from counted
full join scored
    on counted.selector_id = scored.selector_id
    and counted.bank_id = scored.bank_id
    and counted.budget = scored.budget
