-- How often is a correct attempt in the pool and not chosen?
select
    selections.archive,
    selections.budget,
    selections.rule,
    count(*) as replays,
    round(100.0 * count(*) filter (replays.covered) / count(*), 2) as coverage,
    round(100.0 * count(*) filter (selections.correct) / count(*), 2) as accuracy,
    count(*) filter (replays.covered and not selections.correct) as missed,
    round(
        100.0 * count(*) filter (replays.covered and not selections.correct) / count(*), 2
    ) as percent_missed,
from selections
inner join replays using (archive, competition, question_id, repeat, cap, budget, rule)
where
    selections.repeat > 0
    and selections.cap = (select value::integer from settings where key = 'primary_cap')
    and selections.selector = (select value from settings where key = 'primary_selector')
group by selections.archive, selections.budget, selections.rule
order by selections.archive, selections.budget, selections.rule
