-- ended_attempts: one row per attempt of the archives in which nothing can be picked, made from
--     bank_counts: how it ended, and whether the archive has an answer of its own.
-- grain: archive, competition, question_id, file, finish_reason, number
with ended as (
    select
        archive,
        competition,
        question_id,
        file,
        archive_answers,
        unnest(map_entries(endings)) as ending,
    from bank_counts
    where archive in (select archive from bank_counts group by archive having sum(eligible) = 0)
),
numbered as (
    select
        archive,
        competition,
        question_id,
        file,
        archive_answers,
        ending.key as finish_reason,
        unnest(range(ending.value::bigint)) as number,
    from ended
)
select
    archive,
    competition,
    question_id,
    file,
    finish_reason,
    number,
    false as eligible,
    if(finish_reason = 'stop' and number < archive_answers, '', null) as archive_answer,
from numbered
