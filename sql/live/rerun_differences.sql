-- rerun_differences: a problem of a live run less the mean over the random orders of its replay, in
--     points of accuracy and in cost; no row where a label is unknown.
-- grain: measure, competition, problem
with compared as (
    select
        competition,
        archive || ' ' || problem as problem,
        100 * (live.correct::integer - avg(theirs.correct::integer)) as accuracy,
        live.cost - avg(theirs.cost) as cost,
    from live_outcomes as live
    inner join full_outcomes as theirs using (archive, competition, problem)
    where live.repeat = 0 and theirs.repeat > 0
    group by archive, competition, problem, live.correct, live.cost
)
select 'accuracy' as measure, competition, problem, accuracy as difference,
from compared
where accuracy is not null
union all
select 'cost' as measure, competition, problem, cost as difference,
from compared
where cost is not null
