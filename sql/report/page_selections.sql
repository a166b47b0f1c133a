-- page_selections: what a selector picks from the attempts up to a position, and whether it may pick
--     the last of them.
-- grain: selector_id, bank_id, repeat, position
select
    used_selectors.selector_id,
    walked.bank_id,
    walked.repeat,
    walked.position,
    eligible_attempts.candidate_id is not null as is_eligible,
    chosen.position as selected_position,
from whole_walked as walked
cross join used_selectors
left join eligible_attempts
    on used_selectors.selector_id = eligible_attempts.selector_id
    and walked.candidate_id = eligible_attempts.candidate_id
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
    and walked.bank_id in (select unnest($banks::bigint[]))
