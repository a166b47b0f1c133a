-- terminal_choices: what a selector picks under a terminal: a candidate_id below 0 is the checkpoint;
--     is_admitted tells whether the selector may pick the one that joins.
-- grain: walk_id, budget, terminal, selector_id
{% for own, prefix in [('primary_picks', 'primary_pool_picks'), ('other_picks', 'other_pool_picks')] if own == (picks | default(own)) %}
{% if not loop.first %}
union all
{% endif %}
select
    stops.*,
    used_selectors.selector_id,
    coalesce(pool_picks.is_admitted, false) as is_admitted,
    case when stops.pool_id is null then picks.candidate_id else pool_picks.candidate_id end as picked_id,
    picks.candidate_id as unadmitted_id,
from terminal_stops as stops
inner join used_selectors on {{ '' if own == 'primary_picks' else 'not ' }}used_selectors.is_primary
left join {{ own }} as picks
    on used_selectors.selector_id = picks.selector_id
    and stops.walk_id = picks.walk_id
    and stops.returned >= picks.from_position
    and stops.returned < picks.until_position
left join {{ prefix }} as pool_picks
    on used_selectors.selector_id = pool_picks.selector_id
    and stops.pool_id = pool_picks.pool_id
{% endfor %}
