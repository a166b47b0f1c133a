-- met_problems: one provisional number below 0 for a named problem, in whatever files it is met.
-- grain: competition, name
select
    competition,
    problem as name,
    -row_number() over (order by competition, problem) as question_id,
from (select distinct competition, problem from extracted where problem is not null)
