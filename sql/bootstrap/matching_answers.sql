-- matching_answers: the strict changes of the primary selector's correct answers; place numbers the problems of the archive from 0.
-- grain: archive, place, budget
select
    answer_changes.archive,
    places.place,
    answer_changes.budget,
    coalesce(answer_changes.correct_change, 0) as correct_change,
from answer_changes
inner join (
    select
        bank_id,
        row_number() over (partition by archive_id order by problem_id) - 1 as place,
    from banks
) as places
    on answer_changes.bank_id = places.bank_id
inner join used_selectors on answer_changes.selector = used_selectors.selector
where answer_changes.rule = 'strict' and used_selectors.is_primary
