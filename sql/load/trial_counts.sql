-- trial_counts: what the files' beginnings hold once they are loaded.
-- grain: one row
select
    count(*) as attempts,
    count(distinct archive) as archives,
    count(distinct (competition, question_id)) as problems,
    count(*) filter (finish_reason = 'stop') as finished,
    count(*) filter (eligible) as pickable,
    count(answer) as answered,
    count(attempts.archive_answer) filter (finish_reason = 'stop') as own,
    count(labels.correct) as labelled,
    count(*) filter (labels.correct) as correct,
    min(bank_size) as least,
    max(bank_size) as most,
    (select count(*) from steps) as steps,
    (select count(*) from checkpoints) as checkpoints,
from (
    select
        *,
        count(*) over (partition by archive, competition, question_id) as bank_size,
    from attempts
) as attempts
inner join labels using (archive, competition, question_id, seed)
