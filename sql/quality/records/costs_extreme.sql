-- costs_extreme: attempts that cost more than 100 times the largest 95 % quantile among the other
--     archives (its own, if there is one archive).
-- grain: archive
with costs as (
    select
        archive,
        completion_tokens,
        count(*) as attempts,
        -- Shares of a running count: a quantile would hold every cost in memory.
        sum(count(*)) over (partition by archive order by completion_tokens)
            / sum(count(*)) over (partition by archive) as share,
    from attempts
    group by archive, completion_tokens
),
usual as (
    select
        archive,
        min(completion_tokens) filter (share >= 0.95) as cost,
    from costs
    group by archive
),
extremes as (
    select
        usual.archive,
        100 * coalesce(max(others.cost), any_value(usual.cost)) as cost,
    from usual
    left join usual as others on usual.archive <> others.archive
    group by usual.archive
)
select
    costs.archive,
    coalesce(sum(costs.attempts) filter (costs.completion_tokens > extremes.cost), 0)::bigint as count,
    sum(costs.attempts)::bigint as total,
from costs
inner join extremes on costs.archive = extremes.archive
group by costs.archive
