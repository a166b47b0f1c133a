-- seconds_beside_steps: thousandths of a second that the steps of attempts hold, of those that the
--     attempts took.
-- grain: archive
select
    archive,
    round(1000 * sum(least(held, seconds)))::bigint as count,
    round(1000 * sum(seconds))::bigint as total,
from (
    select
        archive,
        any_value(attempts.seconds) as seconds,
        sum(steps.seconds) as held,
    from attempts
    inner join steps using (archive, competition, question_id, seed)
    group by archive, competition, question_id, seed
    having count(steps.seconds) = count(*)
)
where seconds > 0
group by archive
