-- archive_weights: how often a replicate draws each of an archive's problems, in ascending problem_id, and all of them; a replicate that draws none has no row.
-- grain: archive, replicate
select
    own.archive,
    weights.replicate,
    list_select(weights.counts, own.problem_ids) as counts,
    list_sum(list_select(weights.counts, own.problem_ids)) as draws,
from weights
cross join (
    select
        archives.archive,
        list(banks.problem_id order by banks.problem_id) as problem_ids,
    from banks
    inner join archives on banks.archive_id = archives.archive_id
    group by archives.archive
) as own
where draws > 0
