-- costliest_walks: what the costliest walk of an archive costs among the problems that a replicate draws.
-- grain: archive_id, replicate
select
    own.archive_id,
    archive_weights.replicate,
    list_max(
        list_transform(
            list_zip(archive_weights.counts, own.whole_costs),
            lambda drawn: case when drawn[1] > 0 then drawn[2] end
        )
    ) as whole_cost,
from (
    select
        archive_id,
        list(whole_cost order by problem_id) as whole_costs,
    from (
        select archive_id, problem_id, max(whole_cost) as whole_cost
        from whole_costs
        group by archive_id, problem_id
    )
    group by archive_id
) as own
inner join archives on own.archive_id = archives.archive_id
inner join archive_weights on archives.archive = archive_weights.archive
