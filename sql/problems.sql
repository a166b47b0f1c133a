-- problems: one row per problem of any archive; competition_index numbers the competitions in ascending name order, label is the name of a problem that has one.
-- grain: problem_id
select
    row_number() over (order by known.competition, known.question_id)::integer as problem_id,
    (dense_rank() over (order by known.competition) - 1)::integer as competition_index,
    known.competition,
    known.question_id,
    problem_labels.label,
from (select distinct competition, question_id from attempts) as known
left join problem_labels
    on known.competition = problem_labels.competition
    and known.question_id = problem_labels.question_id
