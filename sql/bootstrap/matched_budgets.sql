-- matched_budgets: the largest whole strict budget that costs no more than an advisory budget does; where nothing is left to buy, the costliest walk of a problem with weight. Replicate 0 weighs every problem once.
-- grain: archive, advisory_budget, replicate
with brackets as (
    select
        archives.archive_id,
        replicate_costs.archive,
        replicate_costs.budget as advisory_budget,
        replicate_costs.replicate,
        replicate_costs.completion_cost::bigint as target,
        replicate_kinks.budget as kink,
        replicate_kinks.cost,
        replicate_kinks.going_on,
    from replicate_costs
    inner join archives on replicate_costs.archive = archives.archive
    asof join replicate_kinks
        on archives.archive_id = replicate_kinks.archive_id
        and replicate_costs.replicate = replicate_kinks.replicate
        and replicate_costs.completion_cost >= replicate_kinks.cost
    where replicate_costs.rule = 'advisory'
),
-- Inside its bracket the cost goes on as a straight line from each walk's end; without one, from the kink itself.
pieces as (
    select
        brackets.archive,
        brackets.advisory_budget,
        brackets.replicate,
        brackets.target,
        kink_walks.whole_cost as budget,
        brackets.going_on - sum(archive_weights.counts[kink_walks.place] * kink_walks.walks) over ended as going_on,
        brackets.cost
            + brackets.going_on * (kink_walks.whole_cost - brackets.kink)
            - sum(archive_weights.counts[kink_walks.place] * kink_walks.walks) over ended * kink_walks.whole_cost
            + sum(archive_weights.counts[kink_walks.place] * kink_walks.walks * kink_walks.whole_cost) over ended as cost,
    from brackets
    inner join archive_weights using (archive, replicate)
    inner join kink_walks
        on brackets.archive_id = kink_walks.archive_id
        and brackets.kink = kink_walks.kink
    window ended as (
        partition by brackets.archive, brackets.advisory_budget, brackets.replicate
        order by kink_walks.whole_cost
    )
),
-- The cost is concave, the least of its lines: a budget costs no more than the target where it does on one of them.
solved as (
    select
        archive,
        advisory_budget,
        replicate,
        max(budget + ((target - cost)::bigint // going_on::bigint)) as strict_budget,
    from (
        select archive, advisory_budget, replicate, target, kink as budget, going_on, cost from brackets
        union all
        select archive, advisory_budget, replicate, target, budget, going_on, cost from pieces
    )
    where cost <= target and going_on > 0
    group by archive, advisory_budget, replicate
)
select
    brackets.archive,
    brackets.advisory_budget,
    brackets.replicate,
    brackets.going_on = 0 as is_exhausted,
    coalesce(solved.strict_budget, costliest.whole_cost) as strict_budget,
from brackets
left join solved using (archive, advisory_budget, replicate)
left join costliest_walks as costliest
    on brackets.archive_id = costliest.archive_id
    and brackets.replicate = costliest.replicate
