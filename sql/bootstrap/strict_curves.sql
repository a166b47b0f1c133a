-- strict_curves: the totals of the advisory rule at one problem and budget, beside those of the strict rule at every budget, by ascending budget.
-- grain: archive, advisory_budget, problem_id
select
    advisory.archive,
    advisory.problem_id,
    advisory.budget as advisory_budget,
    advisory.replays,
    advisory.cost as advisory_cost,
    advisory.correct as advisory_correct,
    strict.costs as strict_costs,
    strict.corrects as strict_corrects,
from rule_totals as advisory
inner join (
    select
        bank_id,
        list(cost order by budget) as costs,
        list(correct order by budget) as corrects,
    from rule_totals
    where rule = 'strict'
    group by bank_id
) as strict
    on advisory.bank_id = strict.bank_id
where advisory.rule = 'advisory'
