-- page_eligible: whether a selector may pick an attempt.
-- grain: selector_id, bank_id, slot
select
    used_selectors.selector_id,
    candidates.bank_id,
    candidates.slot,
    (eligible_attempts.candidate_id is not null)::utinyint as eligible,
from candidates
cross join used_selectors
left join eligible_attempts
    on used_selectors.selector_id = eligible_attempts.selector_id
    and candidates.candidate_id = eligible_attempts.candidate_id
where candidates.bank_id in (select unnest($banks::bigint[]))
order by used_selectors.selector_id, candidates.bank_id, candidates.slot
