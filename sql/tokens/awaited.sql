-- awaited: attempts that boundary events wait for, and after how many tokens each is to be cut.
-- grain: archive, competition, question_id, seed
select
    attempts.archive,
    attempts.competition,
    attempts.question_id,
    attempts.seed,
    any_value(attempts.completion_tokens) as recorded,
    list(distinct prefix_events.remaining order by prefix_events.remaining) as cuts,
from prefix_events
inner join attempts
    on prefix_events.archive = attempts.archive
    and prefix_events.competition = attempts.competition
    and prefix_events.question_id = attempts.question_id
    and prefix_events.seed = attempts.seed
where prefix_events.examined is null
group by attempts.archive, attempts.competition, attempts.question_id, attempts.seed
