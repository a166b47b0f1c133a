-- replicate_costs: weighted totals of an archive at the primary cap, whatever the selector; replicate 0 weighs every problem once.
-- grain: archive, budget, rule, replicate
with totals as (
    select
        archive,
        budget,
        rule,
        any_value(replays) as replays,
        count(covered) > 0 as is_graded,
        -- A list with nulls makes no product.
        list(coalesce(covered, 0)::double order by problem_id) as covered,
        list(completion_cost::double order by problem_id) as completion_cost,
        list(prompt_cost::double order by problem_id) as prompt_cost,
    from problem_costs
    group by archive, budget, rule
)
select
    totals.archive,
    totals.budget,
    totals.rule,
    archive_weights.replicate,
    archive_weights.draws * totals.replays as replays,
    case when totals.is_graded then list_dot_product(archive_weights.counts, totals.covered) end as covered,
    list_dot_product(archive_weights.counts, totals.completion_cost) as completion_cost,
    list_dot_product(archive_weights.counts, totals.prompt_cost) as prompt_cost,
from totals
inner join archive_weights on totals.archive = archive_weights.archive
