-- eligible_attempts: the attempts that a selector may pick; the canonical order shows every attempt
--     of a bank.
-- grain: selector_id, bank_id, slot
select
    prefix_selections.selector_id,
    walked_attempts.bank_id,
    walked_attempts.slot,
    used_selectors.is_primary,
from prefix_selections
inner join walked_attempts on prefix_selections.prefix_id = walked_attempts.prefix_id
inner join walks on walked_attempts.walk_id = walks.walk_id
inner join used_selectors on prefix_selections.selector_id = used_selectors.selector_id
where
    walks.repeat = 0
    and prefix_selections.is_eligible
    and walked_attempts.walk_id between getvariable('first_walk') and getvariable('last_walk')
