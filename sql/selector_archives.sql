-- selector_archives: the archives in which a selector may pick any attempt.
-- grain: selector_id, archive_id
select distinct
    pickable.selector_id,
    banks.archive_id,
from pickable
inner join banks on pickable.bank_id = banks.bank_id
