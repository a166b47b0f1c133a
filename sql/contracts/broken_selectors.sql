-- broken_selectors: what is wrong with the rows of a selector; a selector that keeps its contract has no row.
-- grain: selector
-- Rows are compared by their number and by the sum of their hashes. Where both agree, every row is there once.
with
{% for number, selector in numbered %}
seen_{{ number }} as (
    select
        {{ number }} as selector_id,
        count(*) as rows,
        count(distinct standings.walk_id + standings.position) as places,
        sum(hash(standings.walk_id::bigint, standings.position::bigint)) as place_hash,
        count(*) filter (walked.walk_id is null) as elsewhere,
        count(*) filter (standings.standing is null or standings.candidate_id is null) as undecided,
        count(*) filter (chosen.walk_id is null or chosen.position > standings.position) as beyond,
        count(*) filter (eligible_attempts.candidate_id is null) as unfit,
    from (
{{ selector.sql }}
    ) as standings
    left join walked
        on standings.walk_id = walked.walk_id
        and standings.position = walked.position
    left join walked as chosen
        on standings.walk_id = chosen.walk_id
        and standings.candidate_id = chosen.candidate_id
    left join eligible_attempts
        on chosen.candidate_id = eligible_attempts.candidate_id
        and eligible_attempts.selector_id = {{ number }}
),
{% endfor %}
seen as (
{% for number, selector in numbered %}
    from seen_{{ number }}{{ ' union all' if not loop.last }}
{% endfor %}
),
pickable as (
    select
        eligible_attempts.selector_id,
        count(*) as rows,
        sum(hash(walked_attempts.walk_id::bigint, walked_attempts.position::bigint)) as place_hash,
    from walked_attempts
    inner join eligible_attempts on walked_attempts.candidate_id = eligible_attempts.candidate_id
    group by eligible_attempts.selector_id
)
select
    used_selectors.selector,
    case
        when seen.elsewhere > 0 or seen.rows <> seen.places
        then 'needs at most one row per walk_id and position of walked_attempts'
        when seen.undecided > 0 then 'standing and candidate_id must not be null'
        when seen.beyond > 0 then 'candidate_id must be that of an attempt of the walk up to position'
        when seen.unfit > 0 then 'candidate_id must be that of an attempt that has a row itself'
        when seen.rows <> coalesce(pickable.rows, 0) or seen.place_hash is distinct from pickable.place_hash
        then 'an attempt must have a row wherever it stands in an order, or nowhere'
    end as broken,
from seen
inner join used_selectors on seen.selector_id = used_selectors.selector_id
left join pickable on seen.selector_id = pickable.selector_id
where broken is not null
order by used_selectors.selector
