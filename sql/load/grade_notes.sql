-- grade_notes: how often an archive's answers match the references, and what the source's own labels say.
-- grain: archive
select
    format('--grade references: archive ''{}'': {:,} of {:,} ({:.2f} %) match', archive, matched, attempts, 100 * matched / attempts)
    || if(
        recorded > 0,
        format(
            '; the source''s own labels call {:,} of {:,} ({:.2f} %) correct, and {:,} of {:,} ({:.2f} %) agree',
            recorded_correct, recorded, 100 * recorded_correct / recorded, agreed, recorded, 100 * agreed / recorded
        ),
        ''
    )
    || if(matched = 0, '; are the references whole solutions, or written in another way?', '') as note,
from (
    select
        archive,
        count(*) as attempts,
        count(*) filter (correct) as matched,
        count(recorded) as recorded,
        count(*) filter (recorded) as recorded_correct,
        count(*) filter (correct = recorded) as agreed,
    from incoming
    group by archive
)
order by archive
