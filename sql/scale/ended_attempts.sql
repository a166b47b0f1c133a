-- ended_attempts: an attempt as the gate of a load knows it, of the archives in which nothing can be picked: how it ended, and that the archive has an answer of its own.
-- grain: archive, competition, question_id, file, finish_reason, number
with ended as (
    select
        archive,
        archive_answers,
        unnest(map_entries(endings)) as ending,
    from bank_counts
    where archive in (select archive from bank_counts group by archive having sum(eligible) = 0)
),
numbered as (
    select
        archive,
        archive_answers,
        ending.key as finish_reason,
        unnest(range(ending.value::bigint)) as number,
    from ended
)
select
    archive,
    finish_reason,
    false as eligible,
    if(finish_reason = 'stop' and number < archive_answers, '', null) as archive_answer,
from numbered
