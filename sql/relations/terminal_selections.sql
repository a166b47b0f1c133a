-- terminal_selections: the answer that a selector returns from a strict replay under a terminal, and
--     its label; one of a checkpoint has the seed of the attempt that was cut.
-- grain: archive, competition, question_id, repeat, budget, terminal, selector
select
    walks.archive,
    walks.competition,
    walks.question_id,
    choices.repeat,
    choices.budget,
    choices.terminal,
    used_selectors.selector,
    choices.picked_id is null as abstained,
    candidates.seed,
    coalesce(choices.picked_id < 0, false) as is_checkpoint,
    case
        when choices.picked_id < 0 then choices.answer
        when used_selectors.votes_on = 'archive_answer' then candidates.archive_answer
        else candidates.answer
    end as answer,
    case
        when graded_archives.is_graded
        then coalesce(case when choices.picked_id < 0 then grades.is_correct else candidate_grades.is_correct end, false)
    end as correct,
from (
{% include 'evaluation/terminal_choices.sql' %}

) as choices
inner join walks on choices.walk_id = walks.walk_id
inner join graded_archives on walks.archive_id = graded_archives.archive_id
inner join used_selectors on choices.selector_id = used_selectors.selector_id
left join candidates on case when choices.picked_id < 0 then -choices.picked_id - 1 else choices.picked_id end = candidates.candidate_id
left join candidate_grades on choices.picked_id = candidate_grades.candidate_id
left join admitted_grades as grades
    on choices.picked_id < 0
    and choices.candidate_id = grades.candidate_id
    and choices.admitted_at = grades.tokens
    and choices.kind = grades.kind
