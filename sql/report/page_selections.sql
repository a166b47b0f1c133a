-- page_selections: which position a selector picks from the attempts up to each position of an order, as
--     far as the largest cap; 0 where it picks none.
-- grain: selector_id, bank_id, repeat
select
    used_selectors.selector_id,
    walked.bank_id,
    walked.repeat,
    list(coalesce(chosen.position, 0) order by walked.position) as pick,
from whole_walked as walked
cross join used_selectors
left join whole_picks as picks
    on used_selectors.selector_id = picks.selector_id
    and walked.walk_id = picks.walk_id
    and walked.position >= picks.from_position
    and walked.position < picks.until_position
left join whole_walked as chosen
    on picks.walk_id = chosen.walk_id
    and picks.candidate_id = chosen.candidate_id
where
    walked.repeat <= $orders
    and walked.position <= (select max(cap) from caps)
    and walked.bank_id in (select unnest($banks::bigint[]))
group by used_selectors.selector_id, walked.bank_id, walked.repeat
order by used_selectors.selector_id, walked.bank_id, walked.repeat
