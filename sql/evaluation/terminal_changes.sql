-- terminal_changes: by how many of a problem's random orders a terminal's correct answers exceed those
--     of strict by more or less once the budget reaches this one, at the primary cap.
-- grain: bank_id, terminal, budget
-- kept: on demand by walks
with states as (
    select
        cut.walk_id,
        cut.bank_id,
        cut.position,
        used_terminals.terminal,
        cut.cumulative_cost - cut.cost + runs.opens_at as budget,
        cut.cumulative_cost as end_budget,
        case
            when used_terminals.terminal = 'forced_if_empty' and before.candidate_id is not null then 0
            when runs.answer_id is null then 0
            when pool_picks.candidate_id < 0 then runs.is_correct::integer - coalesce(before_grades.is_correct, false)::integer
            else coalesce(after_grades.is_correct, false)::integer - coalesce(before_grades.is_correct, false)::integer
        end as gain,
    from whole_attempts as cut
    inner join opening_runs as runs
        on cut.candidate_id = runs.candidate_id
        and cut.cost > runs.opens_at
    inner join used_terminals on runs.terminal = case when used_terminals.terminal = 'forced_if_empty' then 'forced' else used_terminals.terminal end
    left join whole_primary_picks as before
        on cut.walk_id = before.walk_id
        and cut.position > before.from_position
        and cut.position <= before.until_position
    left join candidate_grades as before_grades on before.candidate_id = before_grades.candidate_id
    left join whole_pools as pools
        on cut.walk_id = pools.walk_id
        and cut.position = pools.position
        and runs.answer_id = pools.answer_id
        and runs.archive_answer_id = pools.archive_answer_id
    left join whole_primary_pool_picks as pool_picks on pools.pool_id = pool_picks.pool_id
    left join candidate_grades as after_grades on pool_picks.candidate_id = after_grades.candidate_id
    where
        cut.repeat > 0
        and cut.position <= (select cap from caps where is_primary)
        and cut.walk_id between coalesce(getvariable('first_walk'), 0)
        and coalesce(getvariable('last_walk'), 9223372036854775807)
),
changes as (
    select
        bank_id,
        terminal,
        budget,
        gain - coalesce(lag(gain) over attempt, 0) as change,
    from states
    window attempt as (partition by walk_id, position, terminal order by budget)
    union all
    -- Where the attempt is returned whole, there is nothing to take from it.
    select
        bank_id,
        terminal,
        end_budget as budget,
        -arg_max(gain, budget) as change,
    from states
    group by walk_id, bank_id, position, terminal, end_budget
)
select
    bank_id,
    terminal,
    budget,
    sum(change)::bigint as correct_change,
from changes
where change <> 0
group by bank_id, terminal, budget
having sum(change) <> 0
