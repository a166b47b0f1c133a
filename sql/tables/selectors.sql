-- selectors: the paired accuracy change under every selector that has an eligible attempt in the archive.
-- grain: archive, budget, selector
with replicates as (
    select
        archives.archive,
        paired_scores.budget,
        selectors.selector,
        paired_scores.replicate,
        100 * paired_scores.strict_correct / paired_scores.replays as strict_accuracy,
        100 * paired_scores.advisory_correct / paired_scores.replays as advisory_accuracy,
        100 * (paired_scores.advisory_correct - paired_scores.strict_correct) / paired_scores.replays as delta,
    from paired_scores
    inner join selector_archives
        on paired_scores.selector_id = selector_archives.selector_id
        and paired_scores.archive_id = selector_archives.archive_id
    inner join selectors on paired_scores.selector_id = selectors.selector_id
    inner join archives on paired_scores.archive_id = archives.archive_id
)
select
    archive,
    budget,
    selector,
    any_value(strict_accuracy) filter (replicate = 0) as strict_accuracy,
    any_value(advisory_accuracy) filter (replicate = 0) as advisory_accuracy,
    any_value(delta) filter (replicate = 0) as delta,
    quantile_cont(delta, 0.025) filter (replicate > 0) as delta_low,
    quantile_cont(delta, 0.975) filter (replicate > 0) as delta_high,
from replicates
group by archive, budget, selector
order by archive, budget, selector
