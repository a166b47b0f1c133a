-- still_curve: the line of a rule that a page shows before its scripts run, over the budgets of the run:
--     shares of the way from left to right, where equal ratios are equal steps, and from the top
--     down; and the line of strict with the answer of a terminal.
-- grain: rule
with points as (
    select
        rule,
        rule as name,
        budget,
        accuracy,
    from curves
    where archive = $archive and accuracy is not null
    union all
    select
        'forced' as rule,
        'strict, ' || terminal as name,
        budget,
        accuracy,
    from terminals
    where archive = $archive and terminal = $terminal and accuracy is not null
),
placed as (
    select
        *,
        coalesce(ln(budget / min(budget) over ()) / nullif(ln(max(budget) over () / min(budget) over ()), 0), 0.5) as across,
        1 - accuracy / 100 as down,
    from points
)
select
    rule,
    any_value(name) as name,
    list({'budget': budget, 'across': across, 'down': down, 'accuracy': accuracy} order by budget) as points,
from placed
group by rule
order by list_position($rules, rule) nulls last
