-- strict_prefix: exploratory, not part of the study: strict with the interrupted prefix's last complete box as one more vote, graded by accepted references alone; a problem without any is undecided.
-- grain: archive, budget
with accepted as (
    select
        competition,
        question_id,
        list(distinct reference) as forms,
    from accepted_references
    group by competition, question_id
)
select
    archives.archive,
    admitted_selections.budget,
    count(*) as replays,
    count(*) filter (admitted_selections.is_boundary_event) as boundary_events,
    count(admitted_selections.admitted_answer) as admitted,
    count(*) filter (admitted_selections.prefix_answer is distinct from admitted_selections.strict_answer) as changed,
    100 * count(*) filter (candidate_grades.is_correct) / count(*) as strict_accuracy,
    100 * count(*) filter (list_contains(accepted.forms, admitted_selections.strict_answer)) / nullif(count(accepted.forms), 0)
        as strict_reference_accuracy,
    100 * count(*) filter (list_contains(accepted.forms, admitted_selections.prefix_answer)) / nullif(count(accepted.forms), 0)
        as prefix_reference_accuracy,
    100 * count(*) filter (accepted.forms is null) / count(*) as undecided_share,
from admitted_selections
inner join banks on admitted_selections.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join candidate_grades
    on admitted_selections.bank_id = candidate_grades.bank_id
    and admitted_selections.strict_slot = candidate_grades.slot
left join accepted
    on problems.competition = accepted.competition
    and problems.question_id = accepted.question_id
group by archives.archive, admitted_selections.budget
order by archives.archive, admitted_selections.budget
