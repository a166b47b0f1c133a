-- terminal_stops: a strict replay at the primary cap under a terminal: what it pays, what joins its
--     pool, and what the primary selector picks without it; null where it abstains.
-- grain: walk_id, budget, terminal
select
    stops.walk_id,
    stops.bank_id,
    stops.repeat,
    stops.budget,
    used_terminals.terminal,
    stops.launched,
    stops.returned,
    stops.launched > stops.returned as is_cut,
    stops.cost + case when used_terminals.terminal = 'forced_after' then coalesce(admissions.cost, 0) else 0 end as cost,
    case when admissions.answer_id is not null then admissions.tokens end as admitted_at,
    pools.pool_id,
    admissions.candidate_id,
    admissions.kind,
    admissions.answer,
    admissions.answer_id,
    admissions.archive_answer_id,
from primary_stops as stops
cross join used_terminals
left join admissions
    on stops.walk_id = admissions.walk_id
    and stops.budget = admissions.budget
    and used_terminals.terminal = admissions.terminal
left join admitted_pools as pools
    on admissions.walk_id = pools.walk_id
    and admissions.position = pools.position
    and admissions.answer_id = pools.answer_id
    and admissions.archive_answer_id = pools.archive_answer_id
where
    stops.rule = 'strict'
    and stops.walk_id between coalesce(getvariable('first_walk'), 0)
    and coalesce(getvariable('last_walk'), 9223372036854775807)
