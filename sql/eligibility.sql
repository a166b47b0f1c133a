-- eligibility: how many attempts of a prefix the primary selector may pick.
-- grain: bank_id, repeat, position
select
    choices.bank_id,
    choices.repeat,
    choices.position,
    (count(*) filter (choices.is_eligible) over prefix)::integer as eligible_count,
from choices
inner join selectors on choices.selector_id = selectors.selector_id
where selectors.is_primary
window prefix as (partition by choices.bank_id, choices.repeat order by choices.position)
