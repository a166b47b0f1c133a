-- problems: one row per problem of any archive; competition_index numbers the competitions in ascending name order, label is the name of a problem that has one.
-- grain: problem_id
select
    row_number() over (order by known.competition, known.question_id)::integer as problem_id,
    (dense_rank() over (order by known.competition) - 1)::integer as competition_index,
    known.competition,
    known.question_id,
    problem_names.name as label,
from (select distinct competition, question_id from attempts) as known
left join problem_names
    on known.competition = problem_names.competition
    and known.question_id = problem_names.question_id
