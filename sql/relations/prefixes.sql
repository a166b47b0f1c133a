-- prefixes: an order up to the largest cap, with what has been spent and how many attempts are
--     eligible; position 0 is the empty pool.
-- grain: archive, competition, question_id, repeat, position
with counted as (
    select
        walked.walk_id,
        walked.bank_id,
        walked.position,
        walked.candidate_id,
        candidates.cost,
        walked.cumulative_cost,
        (
            count(eligible_attempts.candidate_id)
                over (partition by walked.walk_id order by walked.position rows unbounded preceding)
        )::integer as eligible_count,
    from whole_walked as walked
    inner join candidates on walked.candidate_id = candidates.candidate_id
    left join eligible_attempts
        on walked.candidate_id = eligible_attempts.candidate_id
        and eligible_attempts.is_primary
),
placed as (
    from counted
    union all
    select walk_id, bank_id, 0, null, 0, 0, 0
    from walks
)
select
    archives.archive,
    problems.competition,
    problems.question_id,
    walks.repeat,
    placed.position,
    candidates.seed,
    placed.cost,
    placed.cumulative_cost,
    placed.eligible_count,
from placed
inner join walks on placed.walk_id = walks.walk_id
inner join banks on placed.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join candidates on placed.candidate_id = candidates.candidate_id
where placed.position <= (select max(cap) from caps)
