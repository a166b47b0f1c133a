-- terminal_totals: integer totals of a terminal at one problem over its random orders, for the primary
--     selector, beside those of terminal none and of the advisory rule; without labels no rows.
-- grain: archive, budget, terminal, problem_id
-- kept: on demand by walks
with graded as (
    select
        choices.*,
        case when choices.picked_id < 0 then grades.is_correct else picked.is_correct end as is_correct,
        coalesce(coverage.covered_from <= choices.returned, false) or (choices.is_admitted and coalesce(grades.is_correct, false)) as is_covered,
        case
            when choices.picked_id < 0 and used_selectors.votes_on = 'archive_answer' then choices.archive_answer_id
            when choices.picked_id < 0 then choices.answer_id
            when used_selectors.votes_on = 'archive_answer' then own.archive_answer_id
            else own.answer_id
        end as picked_answer,
        case
            when used_selectors.votes_on = 'archive_answer' then unadmitted.archive_answer_id
            else unadmitted.answer_id
        end as unadmitted_answer,
    from primary_choices as choices
    inner join coverage on choices.walk_id = coverage.walk_id
    inner join used_selectors on choices.selector_id = used_selectors.selector_id
    left join candidates as own on choices.picked_id = own.candidate_id
    left join candidates as unadmitted on choices.unadmitted_id = unadmitted.candidate_id
    left join candidate_grades as picked on choices.picked_id = picked.candidate_id
    left join admitted_grades as grades
        on choices.candidate_id = grades.candidate_id
        and choices.admitted_at = grades.tokens
        and choices.kind = grades.kind
    where choices.repeat > 0 and coverage.is_graded
),
totals as (
    select
        bank_id,
        budget,
        terminal,
        count(*) as replays,
        count(*) filter (is_cut) as cut,
        count(admitted_at) as admitted,
        count(*) filter (picked_answer is distinct from unadmitted_answer) as changed,
        count(*) filter (picked_id < 0 and is_correct is null) as undecided,
        count(*) filter (is_correct) as correct,
        count(*) filter (is_covered) as covered,
        sum(cost)::bigint as cost,
    from graded
    group by bank_id, budget, terminal
)
select
    strict.archive,
    strict.problem_id,
    totals.*,
    strict.correct as none_correct,
    advisory.correct as advisory_correct,
    advisory.cost as advisory_cost,
from totals
inner join rule_totals as strict
    on totals.bank_id = strict.bank_id
    and totals.budget = strict.budget
    and strict.rule = 'strict'
inner join rule_totals as advisory
    on totals.bank_id = advisory.bank_id
    and totals.budget = advisory.budget
    and advisory.rule = 'advisory'
