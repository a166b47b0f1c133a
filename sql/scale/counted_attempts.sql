-- counted_attempts: one row per counted attempt, made from bank_counts; correct is true or null and
--     says only whether a label exists.
-- grain: file, archive, competition, question_id, number
select
    file,
    archive,
    competition,
    question_id,
    number,
    case when number < labels then true end as correct,
from (
    select
        *,
        unnest(range(attempts)) as number,
    from bank_counts
)
