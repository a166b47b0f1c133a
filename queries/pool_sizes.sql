-- How accurate is the choice from a pool of one, two, three … eligible attempts?
-- $budget =
-- An empty $budget means the largest.
select
    selections.archive,
    selections.rule,
    replays.eligible,
    count(*) as replays,
    count(*) filter (selections.correct) as correct_answers,
    round(100.0 * count(*) filter (selections.correct) / count(*), 2) as accuracy,
from selections
inner join replays using (archive, competition, question_id, repeat, cap, budget, rule)
where
    selections.repeat > 0
    and selections.cap = (select value::integer from settings where key = 'primary_cap')
    and selections.selector = (select value from settings where key = 'primary_selector')
    and selections.budget = coalesce(
        nullif(replace(replace($budget, '_', ''), 'k', '000'), '')::bigint,
        (select max(budget) from budgets)
    )
group by selections.archive, selections.rule, replays.eligible
order by selections.archive, selections.rule, replays.eligible
