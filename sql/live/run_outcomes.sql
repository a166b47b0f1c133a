-- run_outcomes: what one order of a problem came to under one rule, policy, selector and cap; the
--     policy none stands in no relation of policies.
-- grain: archive, competition, problem, repeat
select
    archive,
    competition,
    coalesce(problems.name, question_id::varchar) as problem,
    repeat,
    launched,
    cost,
    answer,
    correct,
from (
    select
        replays.* exclude (covered),
        'none' as policy,
        selections.selector,
        selections.answer,
        selections.correct,
    from replays
    inner join selections using (archive, competition, question_id, repeat, cap, budget, rule)
    union all by name
    select
        policy_replays.* exclude (covered),
        policy_selections.selector,
        policy_selections.answer,
        policy_selections.correct,
    from policy_replays
    inner join policy_selections
        using (archive, competition, question_id, repeat, cap, policy, budget, rule)
)
inner join problems using (competition, question_id)
where rule = $rule and policy = $policy and selector = $selector and cap = $cap
order by archive, competition, problem, repeat
