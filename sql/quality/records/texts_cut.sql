-- texts_cut: finished attempts whose answer is missing as the text ends inside a box, or whose text
--     ends at the greatest length where at least three long ones do, of those with a text.
-- grain: archive
with ends as (
    select
        archive,
        ends_in_box and answer is null as is_in_box,
        text_size,
        max(text_size) over (partition by archive) as largest_size,
        count(*) over (partition by archive, text_size) as texts_of_size,
    from text_measures
    inner join attempts using (archive, competition, question_id, seed)
    where finish_reason = 'stop'
)
select
    archive,
    count(*) filter (is_in_box or (text_size = largest_size and text_size >= 1000 and texts_of_size >= 3)) as count,
    count(*) as total,
from ends
group by archive
