-- named_problems: a problem of the database that goes by a name.
-- grain: competition, name
select
    problem_names.competition,
    problem_names.name,
    problem_names.question_id,
from problem_names
semi join attempts using (competition, question_id)
