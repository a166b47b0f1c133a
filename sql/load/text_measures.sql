-- text_measures: what the checks of texts ask of each: its bytes and characters, a hash, and
--     whether that of a finished attempt without an answer ends inside a box.
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
        texts.*,
        attempts.finish_reason,
        attempts.completion_tokens,
        attempts.reasoning_length,
        attempts.mean_logprob,
        case
            when attempts.finish_reason = 'stop' and attempts.answer is null
                then string_split(right(texts.text, 4096), '\boxed{')
        end as ending,
    from texts
    inner join attempts
        on texts.archive = attempts.archive
        and texts.competition = attempts.competition
        and texts.question_id = attempts.question_id
        and texts.seed = attempts.seed
    where texts.text is not null
)
