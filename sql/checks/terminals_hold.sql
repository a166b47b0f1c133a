-- terminals_hold: a terminal's pool has all that none's has, and costs as much, but for forced_after,
--     which costs no less; forced_if_empty adds nothing to a pool that has an eligible attempt
-- grain: one row
select
    count(*) as looked_at,
    count(*) filter (
        ended.returned <> plain.returned
        or ended.eligible < plain.eligible
        or (plain.covered and not ended.covered)
        or if(ended.terminal = 'forced_after', ended.cost < plain.cost, ended.cost <> plain.cost)
        or (ended.terminal = 'forced_if_empty' and plain.eligible > 0 and ended.admitted_at is not null)
    ) as violations,
from terminal_replays as ended
inner join terminal_replays as plain using (archive, competition, question_id, repeat, budget)
where plain.terminal = 'none'
