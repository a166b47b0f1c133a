-- text_measures: what the checks of texts ask of each: its bytes and characters, a hash, and whether it
--     ends inside a box.
-- grain: archive, competition, question_id, seed
select
    * exclude (text, ending),
    -- Bytes are counted, which reads no text to its end.
    strlen(text) as text_size,
    length(text) as text_length,
    -- Whole texts would be kept in memory.
    hash(text) as text_hash,
    len(ending) > 1
        and length(regexp_replace(ending[-1], '\\.|[^{]', '', 'g'))
            >= length(regexp_replace(ending[-1], '\\.|[^}]', '', 'g')) as ends_in_box,
from (
    select
        *,
        string_split(right(text, 4096), '\boxed{') as ending,
    from texts
    where text is not null
)
