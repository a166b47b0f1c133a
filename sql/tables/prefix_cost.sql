-- prefix_cost: what the strict rule pays for attempts it cuts off: mean cost, and their share of all it pays.
-- grain: archive, budget
select
    archive,
    budget,
    sum(prefix_cost) / sum(replays) as prefix_cost,
    100 * sum(prefix_cost) / sum(cost) as prefix_share,
from problem_costs
inner join problem_prompts using (bank_id, budget, rule)
where rule = 'strict'
group by archive, budget
order by archive, budget
