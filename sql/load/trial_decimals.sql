-- trial_decimals: an answer or a reference of a problem that is a plain decimal, the shortest first.
-- grain: competition, question_id, form
select distinct
    competition,
    question_id,
    form,
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
order by competition, question_id, length(form), form
