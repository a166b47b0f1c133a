-- archive_comparisons: two archives at the problems that both have, under the same rule and budget:
--     accuracy and cost, with paired intervals.
-- grain: archive, other, rule, budget
-- Only differences need replicates, which are many: there is a row for every two archives.
with means as (
    select
        archive,
        other,
        rule,
        budget,
        100 * sum(correct) / sum(replays) as accuracy,
        100 * sum(other_correct) / sum(replays) as other_accuracy,
        sum(cost) / sum(replays) as cost,
        sum(other_cost) / sum(replays) as other_cost,
    from problem_comparisons
    group by archive, other, rule, budget
)
select
    archive,
    other,
    rule,
    budget,
    intervals.draws::bigint as problems,
    means.accuracy,
    means.other_accuracy,
    intervals.delta,
    intervals.delta_low,
    intervals.delta_high,
    means.cost,
    means.other_cost,
    intervals.cost_difference,
    intervals.cost_difference_low,
    intervals.cost_difference_high,
from interval_comparisons as intervals
inner join means using (archive, other, rule, budget)
order by archive, other, rule, budget
