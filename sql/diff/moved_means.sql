-- moved_means: the mean of a measure over the problems of both databases, in the old and in the new
--     one, with the paired difference and its interval, in the printed unit ($scale).
-- grain: measure, archive, budget, rule
select
    measure,
    archive,
    rule,
    budget / $scale as budget,
    means.old / size as old,
    means.new / size as new,
    intervals.difference / size as difference,
    intervals.low / size as low,
    intervals.high / size as high,
    if(coalesce(low > 0 or high < 0, false), '*', '') as mark,
    means.is_moved,
from (
    select
        measure,
        archive,
        budget,
        rule,
        if(measure = 'cost', $scale, 1) as size,
        avg(old) as old,
        avg(new) as new,
        bool_or(difference <> 0) as is_moved,
    from moved
    group by measure, archive, budget, rule
) as means
inner join intervals using (measure, archive, budget, rule)
order by measure, mark desc, abs(intervals.difference) desc, archive, intervals.budget, rule
