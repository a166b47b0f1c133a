-- prefix_weights: the weight of the leading answer of a prefix, of the next one and of all, where
--     the primary selector weighs votes; a prefix without a vote has no row.
-- grain: walk_id, position
with totals as (
    select
        walked_attempts.walk_id,
        walked_attempts.position,
        walked_attempts.answer_id,
        sum(case used_selectors.weighs when 'weight' then scored.weight else scored.exp_weight end) over (
            partition by walked_attempts.walk_id, walked_attempts.answer_id
            order by walked_attempts.position
        ) as weight,
    from used_selectors
    inner join candidate_scores as scored on used_selectors.score = scored.score
    inner join whole_attempts as walked_attempts on scored.candidate_id = walked_attempts.candidate_id
    where used_selectors.is_primary and used_selectors.weighs is not null
),
standings as (
    select
        prefixes.walk_id,
        prefixes.position,
        totals.answer_id,
        max(totals.weight) as weight,
    from totals
    inner join whole_walked as prefixes
        on totals.walk_id = prefixes.walk_id
        and totals.position <= prefixes.position
    group by prefixes.walk_id, prefixes.position, totals.answer_id
)
select
    walk_id,
    position,
    max(weight) / 1e9 as leader_weight,
    coalesce(max(weight, 2)[2], 0) / 1e9 as runner_up_weight,
    sum(weight) / 1e9 as weight,
from standings
group by walk_id, position
