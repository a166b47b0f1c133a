-- controls: both rules run where they must agree; a disagreement is a selected attempt that differs.
-- grain: control, selector
with stopped as (
{% for control in ('completed_prefix', 'aligned_cost') %}
{% for name in ('strict', 'advisory') %}
    select '{{ control }}' as control, '{{ name }}' as rule, walk_id, budget, returned
    from (
        with budgeted_steps as (
            select distinct walk_id, cap, budget, position, cost, cumulative_cost, is_last
            from control_steps
            where control = '{{ control }}'
        ),
        crossings as (
{% include 'crossings.sql' %}
        )
        select * from (
{{ rule[name] }}
        )
    )
{% if not loop.last %}
    union all
{% endif %}
{% endfor %}
{% if not loop.last %}
    union all
{% endif %}
{% endfor %}
),
picked as (
    select
        stopped.control,
        stopped.rule,
        stopped.walk_id,
        stopped.budget,
        choices.selector_id,
        choices.selected_position,
    from stopped
    inner join choices on stopped.walk_id + stopped.returned = choices.walk_id + choices.position
)
select
    control_steps.control,
    selectors.selector,
    count(*) as comparisons,
    count(*) filter (strict.selected_position is distinct from advisory.selected_position) as disagreements,
from control_steps
inner join picked as strict
    on control_steps.control = strict.control
    and control_steps.walk_id = strict.walk_id
    and control_steps.budget = strict.budget
    and strict.rule = 'strict'
inner join picked as advisory
    on strict.control = advisory.control
    and strict.walk_id = advisory.walk_id
    and strict.budget = advisory.budget
    and strict.selector_id = advisory.selector_id
    and advisory.rule = 'advisory'
inner join walks on control_steps.walk_id = walks.walk_id
inner join banks on walks.bank_id = banks.bank_id
inner join selector_archives
    on strict.selector_id = selector_archives.selector_id
    and banks.archive_id = selector_archives.archive_id
inner join selectors on strict.selector_id = selectors.selector_id
where control_steps.position = 0
group by control_steps.control, selectors.selector
order by control_steps.control, selectors.selector
