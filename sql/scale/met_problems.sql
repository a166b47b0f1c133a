-- met_problems: one provisional number below 0 for a named problem, in whatever files it is met.
-- grain: competition, name
select
    competition,
    problem_name as name,
    -row_number() over (order by competition, problem_name) as question_id,
from (select distinct competition, problem_name from extracted where problem_name is not null)
