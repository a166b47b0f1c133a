-- controls: both rules run where they must agree; a disagreement is a selected attempt that differs.
-- grain: control, selector
-- Where both rules return the same prefix no selector can differ, so selections are looked up for the others alone.
with changed as materialized (
{% for control in ('completed_prefix', 'aligned_cost') %}
    select
        '{{ control }}' as control,
        strict.walk_id,
        strict.budget,
        strict.walk_id + strict.returned as strict_prefix_id,
        advisory.walk_id + advisory.returned as advisory_prefix_id,
    from
{% for name in ('strict', 'advisory') %}
    (
        with budgeted_attempts as (
            select walk_id, cap, budget, position, cost, cumulative_cost, is_last
            from control_attempts
            where control = '{{ control }}'
        ),
        last_launched as (
{% include 'budgets/last_launched.sql' %}
        )
        select * from (
{{ rule[name] }}
        )
    ) as {{ name }}
{% if not loop.last %}
    inner join
{% endif %}
{% endfor %}
        on strict.walk_id = advisory.walk_id
        and strict.budget = advisory.budget
    where strict.returned <> advisory.returned
{% if not loop.last %}
    union all
{% endif %}
{% endfor %}
),
compared as (
    select
        control_attempts.control,
        banks.archive_id,
        sum(control_attempts.replays)::bigint as comparisons,
    from control_attempts
    inner join bank_orders on control_attempts.walk_id = bank_orders.walk_id
    inner join banks on bank_orders.bank_id = banks.bank_id
    where control_attempts.position = 0
    group by control_attempts.control, banks.archive_id
),
disagreeing as (
    select
        changed.control,
        strict.selector_id,
        banks.archive_id,
        sum(control_attempts.replays)::bigint as disagreements,
    from changed
    inner join prefix_selections as strict on changed.strict_prefix_id = strict.prefix_id
    inner join prefix_selections as advisory
        on changed.advisory_prefix_id = advisory.prefix_id
        and strict.selector_id = advisory.selector_id
    inner join control_attempts
        on changed.control = control_attempts.control
        and changed.walk_id = control_attempts.walk_id
        and changed.budget = control_attempts.budget
        and control_attempts.position = 0
    inner join bank_orders on changed.walk_id = bank_orders.walk_id
    inner join banks on bank_orders.bank_id = banks.bank_id
    where strict.selected_prefix_id is distinct from advisory.selected_prefix_id
    group by changed.control, strict.selector_id, banks.archive_id
)
select
    compared.control,
    selector_archives.selector,
    sum(compared.comparisons)::bigint as comparisons,
    coalesce(sum(disagreeing.disagreements), 0)::bigint as disagreements,
from compared
inner join archives on compared.archive_id = archives.archive_id
inner join selector_archives on archives.archive = selector_archives.archive
inner join used_selectors on selector_archives.selector = used_selectors.selector
left join disagreeing
    on compared.control = disagreeing.control
    and compared.archive_id = disagreeing.archive_id
    and used_selectors.selector_id = disagreeing.selector_id
group by compared.control, selector_archives.selector
order by compared.control, selector_archives.selector
