-- What does a correct answer cost under each rule (also known as cost-of-pass)?
-- Money needs --unit money, or prices and completion tokens.
select
    archive,
    budget,
    rule,
    count(*) as replays,
    sum(correct::integer)::bigint as correct_answers,
    100.0 * avg(correct::integer) as accuracy,
    avg(cost) as cost,
    sum(cost) / nullif(sum(correct::integer), 0) as cost_per_correct,
    sum(prompt_tokens) / nullif(sum(correct::integer), 0) as prompt_tokens_per_correct,
    sum(money) / nullif(sum(correct::integer), 0) as money_per_correct,
from results
where selector = (select value from settings where key = 'primary_selector')
group by archive, budget, rule
order by archive, budget, rule
