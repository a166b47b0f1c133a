-- problems: one row per replayed problem of any archive; competition_index numbers the competitions
--     in ascending name order, name is the problem's own where it has one.
-- grain: problem_id
-- kept: table
select
    row_number() over (order by known.competition, known.question_id)::integer as problem_id,
    (dense_rank() over (order by known.competition) - 1)::integer as competition_index,
    known.competition,
    known.question_id,
    problem_names.name,
from (select distinct competition, question_id from replayed_problems) as known
left join problem_names using (competition, question_id)
