-- texts_cut: finished attempts whose answer is missing as the text ends inside a box, or whose text ends at the greatest length where at least three long ones do, of those with a text.
-- grain: archive
with ends as (
    select
        texts.archive,
        -- Bytes are counted, which reads no text to its end.
        strlen(texts.text) as size,
        max(strlen(texts.text)) over (partition by texts.archive) as largest_size,
        case when attempts.answer is null then string_split(right(texts.text, 4096), '\boxed{') end as pieces,
        attempts.answer,
    from texts
    inner join attempts
        on texts.archive = attempts.archive
        and texts.competition = attempts.competition
        and texts.question_id = attempts.question_id
        and texts.seed = attempts.seed
    where attempts.finish_reason = 'stop' and texts.text is not null
),
looked_at as (
    select
        archive,
        size = largest_size
            and size >= 1000
            and count(*) over (partition by archive, size) >= 3 as is_at_limit,
        answer is null
            and len(pieces) > 1
            and length(regexp_replace(pieces[-1], '\\.|[^{]', '', 'g'))
                >= length(regexp_replace(pieces[-1], '\\.|[^}]', '', 'g')) as is_in_box,
    from ends
)
select
    archive,
    count(*) filter (is_at_limit or is_in_box) as count,
    count(*) as total,
from looked_at
group by archive
