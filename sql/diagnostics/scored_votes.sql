-- scored_votes: what a pool of a random order at the primary cap elects by each score of the run:
--     among the scores of at least the 90 % quantile by their sum, and by the roots of ranks; a tie
--     goes to the answer seen first, whose earliest attempt stands for it.
-- grain: walk_id, returned, score, definition
-- Weights are whole billionths, so that their sums are the same on any number of threads.
with members as (
    select
        pools.walk_id,
        pools.returned,
        scored.score,
        walked_attempts.answer_id,
        walked_attempts.position,
        walked_attempts.candidate_id,
        scored.value,
        quantile_cont(scored.value, 0.9) over pool as top_value,
        count(*) over pool - row_number() over (
            partition by pools.walk_id, pools.returned, scored.score
            order by scored.value desc, walked_attempts.position
        ) + 1 as points,
    from (select distinct walk_id, returned from primary_stops where rule in ('strict', 'advisory')) as pools
    inner join walks on pools.walk_id = walks.walk_id and walks.repeat > 0
    inner join walked_attempts
        on pools.walk_id = walked_attempts.walk_id
        and walked_attempts.position <= pools.returned
    inner join candidate_scores as scored on walked_attempts.candidate_id = scored.candidate_id
    window pool as (partition by pools.walk_id, pools.returned, scored.score)
),
votes as (
    select
        walk_id,
        returned,
        score,
        'deepconf_top10' as definition,
        answer_id,
        min(position) as first_position,
        arg_min(candidate_id, position) as candidate_id,
        sum(floor(1e9 * value + 0.5)::hugeint) as weight,
    from members
    where value >= top_value
    group by walk_id, returned, score, answer_id
    union all
    select
        walk_id,
        returned,
        score,
        'borda_half' as definition,
        answer_id,
        min(position) as first_position,
        arg_min(candidate_id, position) as candidate_id,
        sum(floor(1e9 * sqrt(points) + 0.5)::hugeint) as weight,
    from members
    group by walk_id, returned, score, answer_id
)
select
    walk_id,
    returned,
    score,
    definition,
    arg_max(candidate_id, (weight, -first_position)) as candidate_id,
from votes
group by walk_id, returned, score, definition
