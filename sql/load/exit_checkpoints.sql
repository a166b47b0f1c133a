-- exit_checkpoints: an asked checkpoint of an attempt, numbered from 1 by its tokens; the same answers
--     of a problem have one answer_id, null where nothing was answered.
-- grain: attempt_id, step
select
    attempt_id,
    row_number() over (partition by attempt_id order by tokens) as step,
    tokens,
    cost,
    certain,
    if(answer is null, null, dense_rank() over (partition by competition, question_id order by answer)) as answer_id,
from checkpoints
inner join exit_attempts using (archive, competition, question_id, seed)
where kind = 'asked'
order by attempt_id, step
