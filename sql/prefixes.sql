-- prefixes: an order up to the largest cap, with what has been spent and how many attempts are eligible; position 0 is the empty pool.
-- grain: archive, competition, question_id, repeat, position
select
    archives.archive,
    problems.competition,
    problems.question_id,
    steps.repeat,
    steps.position,
    candidates.seed,
    steps.cost,
    steps.cumulative_cost,
    eligibility.eligible_count,
from steps
inner join eligibility
    on steps.bank_id = eligibility.bank_id
    and steps.repeat = eligibility.repeat
    and steps.position = eligibility.position
inner join banks on steps.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join candidates
    on steps.bank_id = candidates.bank_id
    and steps.slot = candidates.slot
where steps.position <= (select max(cap) from caps)
