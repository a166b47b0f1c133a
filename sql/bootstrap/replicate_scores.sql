-- replicate_scores: weighted correct answers of an archive and a selector at the primary cap; replicate 0 weighs every problem once.
-- grain: archive, budget, rule, selector, replicate
with totals as (
    select
        archive,
        budget,
        rule,
        selector,
        is_primary,
        any_value(replays) as replays,
        count(correct) > 0 as is_graded,
        -- A list with nulls makes no product.
        list(coalesce(correct, 0)::double order by problem_id) as correct,
    from problem_scores
    group by archive, budget, rule, selector, is_primary
)
select
    totals.archive,
    totals.budget,
    totals.rule,
    totals.selector,
    totals.is_primary,
    archive_weights.replicate,
    archive_weights.draws * totals.replays as replays,
    case when totals.is_graded then list_dot_product(archive_weights.counts, totals.correct) end as correct,
from totals
inner join archive_weights on totals.archive = archive_weights.archive
