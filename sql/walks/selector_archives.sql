-- selector_archives: the archives in which a selector may pick any attempt.
-- grain: selector, archive
select distinct
    used_selectors.selector,
    archives.archive,
from eligible_attempts
inner join used_selectors on eligible_attempts.selector_id = used_selectors.selector_id
inner join banks on eligible_attempts.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
