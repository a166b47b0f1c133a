-- replicate_kinks: the weighted strict cost of an archive at some kinks, and the weighted number of walks that go on there; replicate 0 weighs every problem once.
-- grain: archive_id, replicate, budget
select
    strict_kinks.archive_id,
    archive_weights.replicate,
    strict_kinks.budget,
    list_dot_product(archive_weights.counts, strict_kinks.costs)::bigint as cost,
    list_dot_product(archive_weights.counts, strict_kinks.going_on)::bigint as going_on,
from strict_kinks
inner join archives on strict_kinks.archive_id = archives.archive_id
inner join archive_weights on archives.archive = archive_weights.archive
