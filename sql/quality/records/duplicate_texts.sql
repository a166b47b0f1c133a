-- duplicate_texts: long texts that repeat another one of the same problem, of all long texts.
-- grain: archive
select
    archive,
    sum(texts - different_texts)::bigint as count,
    sum(texts)::bigint as total,
from (
    select
        archive,
        count(*) as texts,
        count(distinct text_hash) as different_texts,
    from text_measures
    where text_size >= 200
    group by archive, competition, question_id
)
group by archive
