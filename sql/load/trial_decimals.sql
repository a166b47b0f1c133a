-- trial_decimals: two answers to a problem, or an answer and its reference, that are one number as 160.0
--     and 160 are.
-- grain: one row
select
    min(form) as first,
    max(form) as second,
from (
    select
        competition,
        question_id,
        answer as form,
    from attempts
    union all
    select
        competition,
        question_id,
        reference as form,
    from accepted_references
)
where regexp_full_match(form, '[-+]?[0-9]+([.][0-9]+)?')
group by competition, question_id, try_cast(form as double)
having count(distinct form) > 1
order by competition, question_id, first
limit 1
