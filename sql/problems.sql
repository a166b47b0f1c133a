-- problems: one row per problem of any archive; competition_index numbers the competitions in ascending name order.
-- grain: problem_id
select
    row_number() over (order by competition, question_id)::integer as problem_id,
    (dense_rank() over (order by competition) - 1)::integer as competition_index,
    competition,
    question_id,
from (select distinct competition, question_id from attempts)
