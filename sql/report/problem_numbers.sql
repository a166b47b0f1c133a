-- problem_numbers: the problems that go by a name, beside the number that the tables show.
-- grain: competition, question_id
select
    competition,
    question_id,
    name as label,
from problems
where name is not null
order by competition, question_id
