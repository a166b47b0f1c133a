-- eligible_counts: how many attempts of a prefix the primary selector may pick.
-- grain: prefix_id
select
    walked_attempts.prefix_id,
    (count(eligible_attempts.slot) over prefix)::integer as eligible_count,
from walked_attempts
left join eligible_attempts
    on walked_attempts.bank_id = eligible_attempts.bank_id
    and walked_attempts.slot = eligible_attempts.slot
    and eligible_attempts.is_primary
window prefix as (partition by walked_attempts.walk_id order by walked_attempts.position)
