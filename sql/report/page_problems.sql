-- page_problems: one row per problem, in the order of the bootstrap counts, with the name of one
--     that has one.
-- grain: problem_id
select
    problem_id,
    competition as problem_competition,
    question_id as problem_question,
    name as problem_name,
from problems
order by problem_id
