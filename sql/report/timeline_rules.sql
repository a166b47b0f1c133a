-- timeline_rules: what every rule launches, returns, pays and selects in one replay.
-- grain: rule
select
    replays.rule,
    replays.budget,
    replays.launched,
    replays.returned,
    replays.eligible,
    replays.cost,
    replays.prefix_cost,
    selections.abstained,
    selections.seed,
    selections.answer,
    selections.correct,
from replays
inner join selections using (archive, competition, question_id, repeat, cap, budget, rule)
where
    archive = $archive
    and competition = $competition
    and question_id = $question_id
    and repeat = $repeat
    and cap = $cap
    and budget = $budget
    and selector = $selector
order by replays.rule
