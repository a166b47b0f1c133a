-- broken_selectors: what is wrong with the rows of a selector; a selector that keeps its contract has no row.
-- grain: selector
-- Rows are compared by their number and by the exclusive or of their hashes, so that nothing has to be sorted or grouped by prefix. Where both agree, every row is there once.
with seen as (
    select
        selector_id,
        count(*) as prefixes,
        bit_xor(hash(prefix_id)) as prefix_hash,
        bit_xor(hash(prefix_id)) filter (is_eligible) as eligible_hash,
        count(*) filter (is_eligible is null) as undecided,
        count(*) filter (selected_prefix_id not between prefix_id - position + 1 and prefix_id) as beyond,
    from prefix_selections
    group by selector_id
),
walked as (
    select
        count(*) as prefixes,
        bit_xor(hash(prefix_id)) as prefix_hash,
    from walked_attempts
),
picked as (
    select
        selections.selector_id,
        count(*) as unfit,
    from prefix_selections as selections
    anti join (select selector_id, prefix_id from prefix_selections where is_eligible) as eligible
        on selections.selector_id = eligible.selector_id
        and selections.selected_prefix_id = eligible.prefix_id
    where selections.selected_prefix_id is not null
    group by selections.selector_id
),
pickable as (
    select
        eligible_attempts.selector_id,
        bit_xor(hash(walked_attempts.prefix_id)) as eligible_hash,
    from walked_attempts
    inner join eligible_attempts
        on walked_attempts.bank_id = eligible_attempts.bank_id
        and walked_attempts.slot = eligible_attempts.slot
    group by eligible_attempts.selector_id
)
select
    used_selectors.selector,
    case
        when coalesce(seen.prefixes, 0) <> walked.prefixes or seen.prefix_hash is distinct from walked.prefix_hash
        then 'needs exactly one row per walk_id and position of walked_attempts'
        when seen.undecided > 0 then 'is_eligible must not be null'
        when seen.beyond > 0 then 'selected_position is null or between 1 and position'
        when picked.unfit > 0 then 'selected_position must be that of an attempt with is_eligible'
        when seen.eligible_hash is distinct from pickable.eligible_hash
        then 'is_eligible must be the same for an attempt wherever it stands in an order'
    end as broken,
from used_selectors
cross join walked
left join seen on used_selectors.selector_id = seen.selector_id
left join picked on used_selectors.selector_id = picked.selector_id
left join pickable on used_selectors.selector_id = pickable.selector_id
where broken is not null
order by used_selectors.selector
