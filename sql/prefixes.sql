-- prefixes: an order up to the largest cap, with what has been spent and how many attempts are eligible; position 0 is the empty pool.
-- grain: archive, competition, question_id, repeat, position
select
    archives.archive,
    problems.competition,
    problems.question_id,
    paths.repeat,
    paths.position,
    candidates.seed,
    paths.cost,
    paths.cumulative_cost,
    (count(eligible.slot) over prefix)::integer as eligible_count,
from paths
inner join banks on paths.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join candidates
    on paths.bank_id = candidates.bank_id
    and paths.slot = candidates.slot
left join eligible
    on paths.bank_id = eligible.bank_id
    and paths.slot = eligible.slot
where paths.position <= (select max(cap) from caps)
window prefix as (partition by paths.walk_id order by paths.position)
