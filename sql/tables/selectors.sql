-- selectors: the paired accuracy change under every selector that has an eligible attempt in the archive.
-- grain: archive, budget, selector
with totals as (
    select
        archive,
        budget,
        selector,
        sum(replays) as replays,
        sum(strict_correct) as strict_correct,
        sum(advisory_correct) as advisory_correct,
    from paired_gains
    group by archive, budget, selector
)
select
    archive,
    budget,
    selector,
    100 * strict_correct / totals.replays as strict_accuracy,
    100 * advisory_correct / totals.replays as advisory_accuracy,
    100 * (advisory_correct - strict_correct) / totals.replays as delta,
    delta_low,
    delta_high,
from totals
inner join selector_archives using (archive, selector)
inner join graded_archives using (archive)
left join interval_selectors as intervals using (archive, budget, selector)
where is_graded
order by archive, budget, selector
