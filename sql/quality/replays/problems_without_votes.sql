-- problems_without_votes: problems in which the primary selector may pick none of the attempts, of all.
-- grain: archive, level
select
    archives.archive,
    null::bigint as level,
    count(*) filter (voted.bank_id is null) as count,
    count(*) as total,
from banks
inner join archives on banks.archive_id = archives.archive_id
left join (select distinct bank_id from eligible_attempts where is_primary) as voted on banks.bank_id = voted.bank_id
group by archives.archive
