-- broken_exits: an attempt of which an exit says something that means nothing, and what.
-- grain: attempt_id, problem
select
    attempt_id,
    case
        when attempt_id is null or min(step) is null then 'gives a row without attempt_id or step'
        when count(*) > 1 then format('gives {} rows for an attempt', count(*))
        when count(exit_checkpoints.step) = 0 then format('leaves at checkpoint {}, which the attempt does not have', min(step))
    end as problem,
from exits
left join exit_checkpoints using (attempt_id, step)
group by attempt_id
having problem is not null
order by attempt_id
