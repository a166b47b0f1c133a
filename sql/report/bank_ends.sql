-- bank_ends: the points of a curve at which more replays ended for lack of attempts in the bank
--     than the threshold of the warning.
-- grain: archive, budget
select
    quality_counts.archive,
    quality_counts.level as budget,
from quality_counts
inner join (
{% include 'quality/thresholds.sql' %}
) as thresholds on quality_counts."check" = thresholds."check"
where quality_counts."check" = 'ended_by_bank' and 100 * quality_counts.count > thresholds.warn_above * quality_counts.total
order by quality_counts.archive, quality_counts.level
