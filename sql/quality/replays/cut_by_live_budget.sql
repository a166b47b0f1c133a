-- cut_by_live_budget: attempts that a live budget cut, of all of archives that were run under one.
-- grain: archive, level
select
    archive,
    null::bigint as level,
    count(*) filter (attempts.finish_reason <> 'stop') as count,
    count(*) as total,
from attempts
inner join replayed_problems using (archive, competition, question_id)
where archive in (select archive from sources where json_extract_string(mapping, '$.live_budget') is not null)
group by archive
