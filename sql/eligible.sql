-- eligible: the attempts that the primary selector may pick.
-- grain: bank_id, slot
select
    pickable.bank_id,
    pickable.slot,
from pickable
inner join selectors on pickable.selector_id = selectors.selector_id
where selectors.is_primary
