-- transitions_sum: fixes less harms, counted replay by replay, give the change in each selector's
--     correct answers
-- grain: one row
with counted as (
    select
        selector,
        bank_id,
        budget,
        count(*) filter (not is_strict_correct and is_advisory_correct)
            - count(*) filter (is_strict_correct and not is_advisory_correct) as gained,
    from changed_selections
    where is_strict_correct is not null
    group by selector, bank_id, budget
),
scored as (
    select
        selector,
        bank_id,
        budget,
        gained,
    from paired_gains
    where gained is not null
)
select
    count(*) as looked_at,
    count(*) filter (coalesce(counted.gained, 0) is distinct from scored.gained) as violations,
from counted
full join scored
    on counted.selector = scored.selector
    and counted.bank_id = scored.bank_id
    and counted.budget = scored.budget
