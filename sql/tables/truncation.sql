-- truncation: how much is cut, by the budget and at the generation limit, and the accuracy when every cut attempt counts as wrong and as correct.
-- grain: archive, budget, rule
-- replays_cut: percent of replays whose last launched attempt runs beyond the budget; strict interrupts it, advisory lets it finish.
-- attempts_cut: percent of all launched attempts that ended at the generation limit (finish_reason 'length').
-- accuracy_cut_wrong: a cut attempt counts as wrong. It gives no answer, so this is the accuracy of the other tables.
-- accuracy_cut_correct: a cut attempt counts as correct and is chosen: a replay is correct when it was, or when an attempt
-- that it launched was cut at the generation limit or interrupted by the budget.
with limited as (
    select
        steps.walk_id,
        steps.position,
        count(*) filter (candidates.finish_reason = 'length') over prefix as limited,
    from steps
    left join candidates on steps.bank_id = candidates.bank_id and steps.slot = candidates.slot
    window prefix as (partition by steps.walk_id order by steps.position)
)
select
    archives.archive,
    ledger.budget,
    rules.rule,
    100 * count(*) filter (last_launched.cumulative_cost > ledger.budget) / count(*) as replays_cut,
    100 * sum(limited.limited) / sum(ledger.launched) as attempts_cut,
    100 * count(*) filter (picks.is_correct) / count(*) as accuracy_cut_wrong,
    100 * count(*) filter (picks.is_correct or limited.limited > 0 or ledger.returned < ledger.launched) / count(*)
        as accuracy_cut_correct,
from ledger
inner join rules on ledger.rule_id = rules.rule_id
inner join caps on ledger.cap = caps.cap
inner join banks on ledger.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join steps as last_launched
    on ledger.walk_id + ledger.launched = last_launched.walk_id + last_launched.position
inner join limited
    on ledger.walk_id + ledger.launched = limited.walk_id + limited.position
inner join picks
    on ledger.rule_id = picks.rule_id
    and ledger.walk_id = picks.walk_id
    and ledger.cap = picks.cap
    and ledger.budget = picks.budget
inner join selectors on picks.selector_id = selectors.selector_id
where caps.is_primary and selectors.is_primary and ledger.repeat > 0
group by archives.archive, ledger.budget, rules.rule
order by archives.archive, ledger.budget, rules.rule
