-- prefix_weights: the weight of the leading answer of a prefix, of the next one and of all, where
--     the primary selector weighs votes; a prefix without a vote has no row.
-- grain: prefix_id
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
    inner join walked_attempts
        on scored.bank_id = walked_attempts.bank_id
        and scored.slot = walked_attempts.slot
    where used_selectors.is_primary and used_selectors.weighs is not null
),
standings as (
    select
        prefixes.prefix_id,
        totals.answer_id,
        max(totals.weight) as weight,
    from totals
    inner join walked_attempts as prefixes
        on totals.walk_id = prefixes.walk_id
        and totals.position <= prefixes.position
    group by prefixes.prefix_id, totals.answer_id
)
select
    prefix_id,
    max(weight) / 1e9 as leader_weight,
    coalesce(max(weight, 2)[2], 0) / 1e9 as runner_up_weight,
    sum(weight) / 1e9 as weight,
from standings
group by prefix_id
