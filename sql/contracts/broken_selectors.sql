-- broken_selectors: what is wrong with the rows of a selector; a selector that keeps its contract has no row.
-- grain: selector
-- Rows are compared as sums of hashes, so that nothing has to be sorted or grouped by prefix.
with seen as (
    select
        used_selectors.selector,
        count(prefix_selections.prefix_id) as prefixes,
        sum(hash(prefix_selections.prefix_id)) as prefix_hash,
        sum(hash(prefix_selections.prefix_id)) filter (prefix_selections.is_eligible) as eligible_hash,
        count(*) filter (prefix_selections.is_eligible is null) as undecided,
        count(*) filter (
            prefix_selections.selected_prefix_id
            not between prefix_selections.prefix_id - prefix_selections.position + 1 and prefix_selections.prefix_id
        ) as beyond,
    from used_selectors
    left join prefix_selections on used_selectors.selector_id = prefix_selections.selector_id
    group by used_selectors.selector
),
walked as (
    select
        count(*) as prefixes,
        sum(hash(prefix_id)) as prefix_hash,
    from walked_attempts
),
pickable as (
    select
        used_selectors.selector,
        sum(hash(walked_attempts.prefix_id)) as eligible_hash,
    from walked_attempts
    inner join eligible_attempts
        on walked_attempts.bank_id = eligible_attempts.bank_id
        and walked_attempts.slot = eligible_attempts.slot
    inner join used_selectors on eligible_attempts.selector_id = used_selectors.selector_id
    group by used_selectors.selector
)
select
    seen.selector,
    case
        when seen.prefixes <> walked.prefixes or seen.prefix_hash is distinct from walked.prefix_hash
        then 'needs exactly one row per walk_id and position of walked_attempts'
        when seen.undecided > 0 then 'is_eligible must not be null'
        when seen.beyond > 0 then 'selected_position is null or between 1 and position'
        when seen.eligible_hash is distinct from pickable.eligible_hash
        then 'is_eligible must be the same for an attempt wherever it stands in an order'
    end as broken,
from seen
cross join walked
left join pickable on seen.selector = pickable.selector
where broken is not null
order by seen.selector
