-- How accurate is the choice from a pool of one, two, three … eligible attempts?
-- $budget =
-- An empty $budget means the largest.
select
    archive,
    rule,
    eligible,
    count(*) as replays,
    sum(correct::integer)::bigint as correct_answers,
    100.0 * avg(correct::integer) as accuracy,
from results
where
    selector = (select value from settings where key = 'primary_selector')
    and budget = coalesce(nullif($budget, '')::double, (select max(budget / scale) from budgets, unit))
group by archive, rule, eligible
order by archive, rule, eligible
