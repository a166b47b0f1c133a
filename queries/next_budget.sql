-- What does the next larger budget buy under each rule, and at what price?
with scores as (
    select
        selections.archive,
        selections.rule,
        selections.budget,
        count(*) as replays,
        count(*) filter (selections.correct) as correct_answers,
        sum(replays.cost)::bigint as completion_tokens,
    from selections
    inner join replays using (archive, competition, question_id, repeat, cap, budget, rule)
    where
        selections.repeat > 0
        and selections.cap = (select value::integer from settings where key = 'primary_cap')
        and selections.selector = (select value from settings where key = 'primary_selector')
    group by selections.archive, selections.rule, selections.budget
),

steps as (
    select
        *,
        lead(budget) over larger as next_budget,
        lead(correct_answers) over larger - correct_answers as gained,
        lead(completion_tokens) over larger - completion_tokens as extra_tokens,
    from scores
    window larger as (partition by archive, rule order by budget)
)

select
    archive,
    rule,
    budget,
    next_budget,
    round(100.0 * correct_answers / replays, 2) as accuracy,
    round(100.0 * (correct_answers + gained) / replays, 2) as next_accuracy,
    round(100.0 * gained / replays, 2) as points_gained,
    round(extra_tokens / replays, 2) as extra_tokens_per_replay,
    case when gained > 0 then round(extra_tokens / gained, 2) end as tokens_per_extra_correct,
from steps
where next_budget is not null
order by archive, rule, budget
