-- window: leaves at the first checkpoint where, of the last N or as many as there are, at least three
--     have an answer and the most frequent one is at least 0.8 of those.
-- grain: attempt_id
-- n: 5
with counted as (
    select
        attempt_id,
        step,
        count(answer_id) over recent as answers,
        list_max(map_values(histogram(answer_id) over recent)) as most,
    from exit_checkpoints
    cross join exit_size
    window recent as (partition by attempt_id order by step rows between n - 1 preceding and current row)
)
select
    attempt_id,
    min(step) as step,
from counted
where answers >= 3 and 5 * most >= 4 * answers
group by attempt_id
