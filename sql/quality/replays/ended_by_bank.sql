-- ended_by_bank: replays of random orders at the primary cap that ran out of attempts before the budget was spent, of all, by budget.
-- grain: archive, level
select
    replays.archive,
    replays.budget as level,
    count(*) filter (sizes.attempts < replays.cap and replays.completion_cost < replays.budget) as count,
    count(*) as total,
from replays
inner join caps on replays.cap = caps.cap and caps.is_primary
inner join (
    select
        archive,
        competition,
        question_id,
        count(*) as attempts,
    from attempts
    group by archive, competition, question_id
) as sizes
    on replays.archive = sizes.archive
    and replays.competition = sizes.competition
    and replays.question_id = sizes.question_id
where replays.rule = 'strict' and replays.repeat > 0
group by replays.archive, replays.budget
