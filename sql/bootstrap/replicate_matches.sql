-- replicate_matches: in every replicate the largest whole strict budget that costs no more than an
--     advisory budget, and what both answer; where nothing is left to buy, the cost of the
--     costliest walk that is drawn.
-- grain: archive, advisory_budget, replicate
-- The strict cost of a budget is a straight line between two neighbouring costs of walks: the block with the line is
-- found by halving, then the line in the block, then the budget on it.
with recursive drawn as (
{% include 'bootstrap/drawn.jinja' %}

),
targets as materialized (
    select
        keys.cost_id,
        drawn.replicate,
        keys.cost_id * 4294967296 + drawn.replicate as target,
        keys.archive,
        keys.first,
        keys.last,
        drawn.counts,
        drawn.draws,
        list_dot_product(keys.high_cost, drawn.counts)::hugeint * 67108864 + list_dot_product(keys.low_cost, drawn.counts)::hugeint as cost,
    from (select distinct on (cost_id) * from matching_keys) as keys
    inner join drawn on keys.problem_set = drawn.problem_set
    where drawn.draws > 0
),
costs as materialized (
    from block_costs
),
search (target, first, last) as (
    select target, first, last,
    from targets
    union all
    select target, case when is_begun then middle else first end, case when is_begun then last else middle - 1 end,
    from (
        select
            search.*,
            (search.first + search.last + 1) // 2 as middle,
            list_dot_product(costs.still_open, targets.counts) > 0
            and list_dot_product(costs.high_cost, targets.counts)::hugeint * 67108864
                + list_dot_product(costs.low_cost, targets.counts)::hugeint <= targets.cost as is_begun,
        from search
        inner join targets on search.target = targets.target
        inner join costs on (search.first + search.last + 1) // 2 = costs.block
        where search.first < search.last
    )
),
-- What is still to be paid from the start of the block, and how many walks go on from there.
begun as (
    select
        targets.target,
        walk_blocks.start,
        list_prepend({'further': 0, 'ending': 0}, [
            {'further': walk.whole_cost - walk_blocks.start, 'ending': targets.counts[walk.problem]::bigint * walk.orders}
            for walk in walk_blocks.walks if targets.counts[walk.problem] > 0
        ]) as ends,
        list_dot_product(costs.still_open, targets.counts)::bigint as still_open,
        targets.cost
            - list_dot_product(costs.high_cost, targets.counts)::hugeint * 67108864
            - list_dot_product(costs.low_cost, targets.counts)::hugeint as unpaid,
    from search
    inner join targets on search.target = targets.target
    inner join costs on search.first = costs.block
    inner join walk_blocks on costs.block = walk_blocks.block
    where search.first = search.last
),
lines as (
    select
        target,
        start,
        unpaid,
        further,
        still_open - sum(ending) over below as going_on,
        sum(ending * further::hugeint) over below + further * going_on as paid,
    from (select target, start, still_open, unpaid, unnest(ends).further as further, unnest(ends).ending as ending from begun)
    window below as (partition by target order by further)
),
matches as (
    select
        target,
        -- All of these rise or fall with the cost: the last line begins where they end.
        any_value(unpaid) - max(paid) as rest,
        min(going_on) as going_on,
        (any_value(start) + max(further) + coalesce(rest // nullif(min(going_on), 0), 0))::bigint as strict_budget,
    from lines
    where paid <= unpaid
    group by target
),
matched as (
    select
        targets.*,
        matches.strict_budget,
        matches.rest % nullif(matches.going_on, 0) as unspent,
        matches.going_on = 0 as is_exhausted,
        -- Where no answer is correct yet there is no block. DuckDB 2.0 fails on some lists that are null.
        case
            when blocks.correct is null then 0
            else list_dot_product(blocks.correct, targets.counts) + coalesce(list_sum([
                answer.correct_change * targets.counts[answer.problem]
                for answer in blocks.answers if answer.budget <= matches.strict_budget
            ]), 0)
        end as strict_correct,
    from matches
    inner join targets on matches.target = targets.target
    asof left join answer_blocks as blocks
        on targets.archive = blocks.archive
        and matches.strict_budget >= blocks.budget
)
select
    keys.archive,
    keys.advisory_budget,
    keys.key_id,
    matched.replicate,
    keys.replays * matched.draws as replays,
    matched.cost::double as advisory_cost,
    case when keys.is_graded then list_dot_product(keys.correct, matched.counts) end as advisory_correct,
    matched.strict_budget,
    (matched.cost - coalesce(matched.unspent, 0))::double as strict_cost,
    matched.is_exhausted,
    case when keys.is_graded then matched.strict_correct end as strict_correct,
from matching_keys as keys
inner join matched on keys.cost_id = matched.cost_id
