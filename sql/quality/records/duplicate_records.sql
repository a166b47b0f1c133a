-- duplicate_records: attempts that repeat another of their bank in text (or else in answer), costs,
--     label and log-probability, of all; long texts have a check of their own, and attempts that were
--     cut off without an answer say too little.
-- grain: archive
select
    archive,
    sum(compared - different)::bigint as count,
    sum(attempts)::bigint as total,
from (
    select
        archive,
        count(*) as attempts,
        count(*) filter (is_compared) as compared,
        count(distinct record) filter (is_compared) as different,
    from (
        select
            archive,
            competition,
            question_id,
            (
                coalesce(measures.text_hash::varchar, attempts.answer),
                attempts.completion_tokens,
                attempts.prompt_tokens,
                attempts.mean_logprob,
                labels.correct
            ) as record,
            coalesce(measures.text_size < 200, attempts.answer is not null or attempts.finish_reason = 'stop') as is_compared,
        from attempts
        inner join labels using (archive, competition, question_id, seed)
        left join text_measures as measures using (archive, competition, question_id, seed)
    )
    group by archive, competition, question_id
)
group by archive
