-- texts_longer_than_costs: attempts with a text, counted where those of an archive have more than
--     eight characters, of reasoning beside the text too, for each completion token.
-- grain: archive
select
    archive,
    if(sum(text_length + coalesce(reasoning_length, 0)) > 8 * sum(completion_tokens), count(*), 0) as count,
    count(*) as total,
from text_measures
inner join attempts using (archive, competition, question_id, seed)
group by archive
