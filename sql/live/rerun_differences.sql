-- rerun_differences: a problem of a live run less the mean over the random orders of its replay;
--     unknown where a label is.
-- grain: archive, competition, problem
select
    archive,
    competition,
    problem,
    live.correct::integer - avg(theirs.correct::integer) as correct,
    live.cost - avg(theirs.cost) as cost,
from live_outcomes as live
inner join full_outcomes as theirs using (archive, competition, problem)
where live.repeat = 0 and theirs.repeat > 0
group by archive, competition, problem, live.correct, live.cost
order by competition, archive, problem
