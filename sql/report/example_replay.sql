-- example_replay: the replay most worth drawing: preferably only advisory is correct, with three to
--     six attempts and a cost that fits the picture; no row where nothing was replayed.
-- grain: archive, competition, question_id, repeat, budget
select
    archive,
    competition,
    question_id,
    repeat,
    budget,
from selections as strict
inner join selections as advisory using (archive, competition, question_id, repeat, cap, budget, selector)
inner join replays using (archive, competition, question_id, repeat, cap, budget)
where
    strict.rule = 'strict'
    and advisory.rule = 'advisory'
    and replays.rule = 'advisory'
    and selector = (select value from settings where key = 'primary_selector')
    and cap = (select cap from caps where is_primary)
order by
    advisory.correct and not strict.correct desc,
    repeat > 0 desc,
    budget,
    replays.launched between 3 and 6 desc,
    replays.launched > 1 desc,
    replays.cost < 3 * budget desc,
    archive,
    competition,
    question_id,
    repeat
limit 1
