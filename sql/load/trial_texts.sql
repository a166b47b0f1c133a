-- trial_texts: the end of a finished attempt's text, where an answer stands; one text may be as
--     large as memory.
-- grain: archive, competition, question_id, seed
select right(text, 20000) as text
from texts
inner join attempts using (archive, competition, question_id, seed)
where finish_reason = 'stop' and text is not null
limit 400
