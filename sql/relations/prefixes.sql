-- prefixes: an order up to the largest cap, with what has been spent and how many attempts are
--     eligible; position 0 is the empty pool.
-- grain: archive, competition, question_id, repeat, position
select
    archives.archive,
    problems.competition,
    problems.question_id,
    walks.repeat,
    walked_attempts.position,
    candidates.seed,
    walked_attempts.cost,
    walked_attempts.cumulative_cost,
    eligible_counts.eligible_count,
from walked_attempts
inner join eligible_counts on walked_attempts.prefix_id = eligible_counts.prefix_id
inner join walks on walked_attempts.walk_id = walks.walk_id
inner join banks on walked_attempts.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join candidates
    on walked_attempts.bank_id = candidates.bank_id
    and walked_attempts.slot = candidates.slot
where walked_attempts.position <= (select max(cap) from caps)
