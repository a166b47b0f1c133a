-- archive_weights: how often a replicate draws each of an archive's problems, in ascending problem_id, and all of them; a replicate that draws none has no row.
-- grain: archive_id, replicate
select
    own.archive_id,
    weights.replicate,
    list_select(weights.counts, own.problem_ids) as counts,
    list_sum(list_select(weights.counts, own.problem_ids)) as draws,
from weights
cross join (
    select
        archive_id,
        list(problem_id order by problem_id) as problem_ids,
    from banks
    group by archive_id
) as own
where draws > 0
