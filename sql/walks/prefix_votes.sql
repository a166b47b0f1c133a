-- prefix_votes: the votes of a prefix for what the primary selector votes on, counted over the
--     attempts that it may pick; a run is unbroken when every attempt in it may be picked and has
--     the same answer.
-- grain: walk_id, position
-- kept: on demand by walks
with voters as (
    select
        walked_attempts.walk_id,
        walked_attempts.bank_id,
        walked_attempts.position,
        walked_attempts.cumulative_cost,
        case
            when eligible_attempts.slot is null or not (select has_answers from used_selectors where is_primary) then null
            when (select votes_on from used_selectors where is_primary) = 'archive_answer'
            then walked_attempts.archive_answer_id
            else walked_attempts.answer_id
        end as vote,
    from whole_attempts as walked_attempts
    left join eligible_attempts
        on walked_attempts.candidate_id = eligible_attempts.candidate_id
        and eligible_attempts.is_primary
),
-- An answer reaches each number of votes once. The second answer to reach it is level with the first, so it sets the runner-up's number.
standings as (
    select
        *,
        case when vote is not null then row_number() over same_vote end as votes,
        case when vote is null or vote is distinct from lag(vote) over walk then position end as run_start,
    from voters
    window
        same_vote as (partition by walk_id, vote order by position),
        walk as (partition by walk_id order by position)
),
arrivals as (
    select
        *,
        case when votes is not null then row_number() over (partition by walk_id, votes order by position) end as arrival,
    from standings
)
select
    walk_id,
    bank_id,
    position,
    cumulative_cost,
    (count(vote) over prefix)::integer as eligible_count,
    coalesce(max(votes) over prefix, 0)::integer as leader_votes,
    coalesce(max(votes) filter (arrival = 2) over prefix, 0)::integer as runner_up_votes,
    (count(*) filter (votes = 1) over prefix)::integer as answers,
    case when vote is null then 0 else position - max(run_start) over prefix + 1 end::integer as run_length,
from arrivals
window prefix as (partition by walk_id order by position)
