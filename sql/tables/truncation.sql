-- truncation: how much is cut, by the budget and at the generation limit, and the accuracy when every cut attempt counts as wrong and as correct.
-- grain: archive, budget, rule
-- replays_cut: percent of replays whose last launched attempt runs beyond the budget; strict interrupts it, advisory lets it finish.
-- attempts_cut: percent of all launched attempts that ended at the generation limit (finish_reason 'length').
-- accuracy_cut_wrong: a cut attempt counts as wrong. It gives no answer, so this is the accuracy of the other tables.
-- accuracy_cut_correct: a cut attempt counts as correct and is chosen: a replay is correct when it was, or when an attempt
-- that it launched was cut at the generation limit or interrupted by the budget.
with limited as (
    select
        walked_attempts.prefix_id,
        walked_attempts.cumulative_cost,
        count(*) filter (candidates.finish_reason = 'length') over prefix as limited,
    from walked_attempts
    left join candidates
        on walked_attempts.bank_id = candidates.bank_id
        and walked_attempts.slot = candidates.slot
    window prefix as (partition by walked_attempts.walk_id order by walked_attempts.position)
)
select
    archives.archive,
    stops.budget,
    stops.rule,
    100 * count(*) filter (limited.cumulative_cost > stops.budget) / count(*) as replays_cut,
    100 * sum(limited.limited) / sum(stops.launched) as attempts_cut,
    100 * sum(replay_selections.is_correct::integer) / count(*) as accuracy_cut_wrong,
    100 * sum(
        (replay_selections.is_correct or limited.limited > 0 or stops.returned < stops.launched)::integer
    ) filter (replay_selections.is_correct is not null) / count(*) as accuracy_cut_correct,
from primary_stops as stops
inner join limited on stops.launched_prefix_id = limited.prefix_id
inner join primary_selections as replay_selections
    on stops.rule = replay_selections.rule
    and stops.walk_id = replay_selections.walk_id
    and stops.budget = replay_selections.budget
inner join used_selectors on replay_selections.selector_id = used_selectors.selector_id
inner join banks on replay_selections.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
where used_selectors.is_primary and replay_selections.repeat > 0
group by archives.archive, stops.budget, stops.rule
order by archives.archive, stops.budget, stops.rule
