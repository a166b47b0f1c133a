-- trial_record: the first attempt of what was loaded, with its label, its problem's name and its
--     text.
-- grain: one row
select
    attempts.*,
    labels.correct,
    problem_names.name,
    texts.text,
from attempts
inner join labels using (archive, competition, question_id, seed)
left join problem_names using (competition, question_id)
left join texts using (archive, competition, question_id, seed)
order by archive, competition, question_id, seed
limit 1
