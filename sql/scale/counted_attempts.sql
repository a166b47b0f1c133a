-- counted_attempts: an attempt as numbering knows it: its file, its bank, and a label that says no more than that there is one.
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
