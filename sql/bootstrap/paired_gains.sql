-- paired_gains: by how many correct answers the advisory rule beats the strict one at the same budget; replicate 0 weighs every problem once.
-- grain: archive, budget, selector, replicate
with totals as (
    select
        archive,
        budget,
        selector,
        is_primary,
        any_value(replays) as replays,
        count(gained) > 0 as is_graded,
        -- A list with nulls makes no product.
        list(coalesce(gained, 0)::double order by problem_id) as gained,
    from problem_gains
    group by archive, budget, selector, is_primary
)
select
    totals.archive,
    totals.budget,
    totals.selector,
    totals.is_primary,
    archive_weights.replicate,
    archive_weights.draws * totals.replays as replays,
    case when totals.is_graded then list_dot_product(archive_weights.counts, totals.gained) end as gained,
from totals
inner join archive_weights on totals.archive = archive_weights.archive
