-- strict_prefix: exploratory, not part of the study: strict with the interrupted prefix's last
--     complete box as one more vote, graded by the references that the answer's attempt accepts; a
--     problem without any is undecided.
-- grain: archive, budget
with accepted as (
    select
        archive,
        competition,
        question_id,
        seed,
        list(reference) as forms,
    from labels
    inner join accepted_references using (archive, competition, question_id, references_id)
    group by archive, competition, question_id, seed
),
decided as (
    select distinct
        competition,
        question_id,
    from accepted_references
)
select
    archives.archive,
    admitted_selections.budget,
    count(*) as replays,
    count(*) filter (admitted_selections.is_boundary_event) as boundary_events,
    count(admitted_selections.admitted_answer) as admitted,
    count(*) filter (admitted_selections.prefix_answer is distinct from admitted_selections.strict_answer) as changed,
    100 * count(*) filter (candidate_grades.is_correct) / count(*) as strict_accuracy,
    100 * count(*) filter (list_contains(strict_accepted.forms, admitted_selections.strict_answer)) / nullif(count(decided.question_id), 0)
        as strict_reference_accuracy,
    100 * count(*) filter (
        list_contains(
            if(admitted_selections.prefix_answer = admitted_selections.strict_answer, strict_accepted.forms, prefix_accepted.forms),
            admitted_selections.prefix_answer
        )
    ) / nullif(count(decided.question_id), 0) as prefix_reference_accuracy,
    100 * count(*) filter (decided.question_id is null) / count(*) as undecided_share,
from admitted_selections
inner join walks on admitted_selections.walk_id = walks.walk_id
inner join banks on admitted_selections.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join candidates
    on admitted_selections.bank_id = candidates.bank_id
    and admitted_selections.strict_slot = candidates.slot
left join candidate_grades
    on admitted_selections.bank_id = candidate_grades.bank_id
    and admitted_selections.strict_slot = candidate_grades.slot
left join prefix_events
    on archives.archive = prefix_events.archive
    and problems.competition = prefix_events.competition
    and problems.question_id = prefix_events.question_id
    and walks.repeat = prefix_events.repeat
    and admitted_selections.budget = prefix_events.budget
left join accepted as strict_accepted
    on archives.archive = strict_accepted.archive
    and problems.competition = strict_accepted.competition
    and problems.question_id = strict_accepted.question_id
    and candidates.seed = strict_accepted.seed
left join accepted as prefix_accepted
    on archives.archive = prefix_accepted.archive
    and problems.competition = prefix_accepted.competition
    and problems.question_id = prefix_accepted.question_id
    and prefix_events.seed = prefix_accepted.seed
left join decided
    on problems.competition = decided.competition
    and problems.question_id = decided.question_id
group by archives.archive, admitted_selections.budget
order by archives.archive, admitted_selections.budget
