-- interval_frontier: a point of cost and accuracy, whether another costs no more and is at least as
--     accurate, one of them strictly, and in what percent of replicates none does.
-- grain: archive, policy, rule, budget
-- totals: frontier_totals
-- values: correct, cost
-- together: replicate
-- Sums over the same problems and orders: whole numbers that compare as they are.
with points as materialized (
    -- Every sixteenth of a doubling of the cost is a band.
    select key_id, replicate, correct, cost, floor(16 * log2(cost))::integer as band,
    from replicate_frontier
),
-- Most points have a better one in a cheaper band, and need not be sorted.
bands as (
    select
        replicate,
        band,
        max(max(correct)) over (partition by replicate order by band rows between unbounded preceding and 1 preceding) as best,
    from points
    group by replicate, band
),
bests as (
    select
        key_id,
        count(*) filter (replicate > 0) as replicates,
        bool_or(replicate = 0) as is_best,
    from (
        select points.key_id, points.replicate,
        from points
        inner join bands using (replicate, band)
        where points.correct >= coalesce(bands.best, 0)
        window
            as_cheap as (partition by points.replicate order by points.cost range between unbounded preceding and current row),
            cheaper as (partition by points.replicate order by points.cost range between unbounded preceding and 1 preceding)
        qualify coalesce(max(points.correct) over cheaper < points.correct, true) and max(points.correct) over as_cheap <= points.correct
    )
    group by key_id
)
select
    replicate_frontier.* exclude (key_id, replicate),
    coalesce(bests.is_best, false) as is_best,
    100 * coalesce(bests.replicates, 0) / nullif((select count(distinct replicate) - 1 from points), 0) as is_best_share,
from replicate_frontier
left join bests using (key_id)
where replicate_frontier.replicate = 0
