-- selectors: the paired accuracy change under every selector that has an eligible attempt in the archive.
-- grain: archive, budget, selector
with intervals as (
    select
        archive,
        budget,
        selector,
        quantile_cont(100 * gained / replays, 0.025) as delta_low,
        quantile_cont(100 * gained / replays, 0.975) as delta_high,
    from replicate_selectors
    where replicate > 0
    group by archive, budget, selector
),
totals as (
    select
        archive,
        budget,
        selector,
        sum(replays) as replays,
        sum(strict_correct) as strict_correct,
        sum(advisory_correct) as advisory_correct,
    from problem_gains
    group by archive, budget, selector
)
select
    archive,
    budget,
    selector,
    100 * strict_correct / replays as strict_accuracy,
    100 * advisory_correct / replays as advisory_accuracy,
    100 * (advisory_correct - strict_correct) / replays as delta,
    delta_low,
    delta_high,
from totals
inner join selector_archives using (archive, selector)
inner join graded_archives using (archive)
left join intervals using (archive, budget, selector)
where is_graded
order by archive, budget, selector
