-- terminal_replays: a strict replay at the primary cap under a terminal: what it returned and paid,
--     and after how many tokens of the cut attempt an answer was taken from it.
-- grain: archive, competition, question_id, repeat, budget, terminal
select
    walks.archive,
    walks.competition,
    walks.question_id,
    choices.repeat,
    choices.budget,
    choices.terminal,
    choices.returned,
    choices.admitted_at,
    coalesce(eligible_counts.eligible_count, 0) + choices.is_admitted::integer as eligible,
    choices.cost,
    case
        when coverage.is_graded
        then coalesce(coverage.covered_from <= choices.returned, false) or (choices.is_admitted and coalesce(grades.is_correct, false))
    end as covered,
from primary_choices as choices
inner join walks on choices.walk_id = walks.walk_id
inner join coverage on choices.walk_id = coverage.walk_id
left join eligible_counts
    on choices.walk_id = eligible_counts.walk_id
    and choices.returned = eligible_counts.position
left join admitted_grades as grades
    on choices.candidate_id = grades.candidate_id
    and choices.admitted_at = grades.tokens
    and choices.kind = grades.kind
