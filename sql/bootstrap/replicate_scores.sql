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
        list(correct::double order by problem_id) as correct,
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
    list_dot_product(archive_weights.counts, totals.correct) as correct,
from totals
inner join archive_weights on totals.archive = archive_weights.archive
