-- extracted_attempts: an attempt of the files of one extract, with the name of its problem where problems
--     have names.
-- grain: file, place
select
    incoming.*,
    names.name as problem_name,
from incoming
left join names
    on incoming.competition = names.competition
    and incoming.question_id = names.question_id
order by incoming.competition, incoming.question_id, incoming.archive, incoming.seed, incoming.place
