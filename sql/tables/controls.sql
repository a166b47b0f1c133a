-- controls: both rules run where they must agree; a disagreement is a selected attempt that differs.
-- grain: control, selector
with stopped as (
{% for control in ('completed_prefix', 'aligned_cost') %}
{% for name in ('strict', 'advisory') %}
    select '{{ control }}' as control, '{{ name }}' as rule, walk_id, budget, returned
    from (
        with budgeted_attempts as (
            select distinct walk_id, cap, budget, position, bank_id, slot, cost, cumulative_cost, is_last
            from control_attempts
            where control = '{{ control }}'
        ),
        last_launched as (
{% include 'budgets/last_launched.sql' %}
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
        used_selectors.selector_id,
        picks.candidate_id,
    from stopped
    cross join used_selectors
    left join whole_picks as picks
        on used_selectors.selector_id = picks.selector_id
        and stopped.walk_id = picks.walk_id
        and stopped.returned >= picks.from_position
        and stopped.returned < picks.until_position
)
select
    control_attempts.control,
    used_selectors.selector,
    count(*) as comparisons,
    count(*) filter (strict.candidate_id is distinct from advisory.candidate_id) as disagreements,
from control_attempts
inner join picked as strict
    on control_attempts.control = strict.control
    and control_attempts.walk_id = strict.walk_id
    and control_attempts.budget = strict.budget
    and strict.rule = 'strict'
inner join picked as advisory
    on strict.control = advisory.control
    and strict.walk_id = advisory.walk_id
    and strict.budget = advisory.budget
    and strict.selector_id = advisory.selector_id
    and advisory.rule = 'advisory'
inner join walks on control_attempts.walk_id = walks.walk_id
inner join banks on walks.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join used_selectors on strict.selector_id = used_selectors.selector_id
inner join selector_archives
    on used_selectors.selector = selector_archives.selector
    and archives.archive = selector_archives.archive
where control_attempts.position = 1
group by control_attempts.control, used_selectors.selector
order by control_attempts.control, used_selectors.selector
