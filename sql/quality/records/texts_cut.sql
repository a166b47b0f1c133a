-- texts_cut: finished attempts whose answer is missing as the text ends inside a box, or whose text ends at the greatest length where at least three long ones do, of those with a text.
-- grain: archive
with ends as (
    select
        texts.archive,
        length(texts.text) as characters,
        max(length(texts.text)) over (partition by texts.archive) as most_characters,
        string_split(right(texts.text, 4096), '\boxed{') as pieces,
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
        characters = most_characters
            and characters >= 1000
            and count(*) over (partition by archive, characters) >= 3 as is_at_limit,
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
