-- rule_lines: the lines of rules: at every budget of the curve, or of the run where a rule has no curve.
-- grain: archive, rule, budget
with dense as (
    select
        archive,
        unnest(['strict', 'advisory']) as rule,
        budget,
        unnest([strict_accuracy, advisory_accuracy]) as accuracy,
        unnest([strict_cost, advisory_cost]) as cost,
        cost / budget as cost_ratio,
    from budget_curve
    where delta is not null
)
from dense
union all by name
select
    archive,
    rule,
    budget,
    accuracy,
    cost,
    cost_ratio,
from curves
where accuracy is not null and (archive, rule) not in (select (archive, rule) from dense)
order by archive, rule, budget
