-- budget_card: what a budget figure must state: cap, realized cost, attempts launched, returned and
--     eligible, stopping rule and selector, for every rule, terminal and policy of the run.
-- grain: archive, budget, rule, terminal, policy
with totals as (
    select
        archive,
        budget,
        rule,
        terminal,
        policy,
        count(*) as problems,
        avg(bank_size) as attempts,
        any_value(replays) as orders,
        sum(replays) as replays,
        sum(correct) as correct,
        sum(covered) as covered,
        sum(cost) as cost,
        list_aggregate(flatten(list(costs)), 'quantile_cont', 0.95) as cost_p95,
        sum(launched) as launched,
        sum(returned) as returned,
        sum(eligible) as eligible,
        sum(abstained) as abstained,
    from card_totals
    group by archive, budget, rule, terminal, policy
)
select
    totals.archive,
    totals.budget,
    unit.unit,
    totals.rule,
    totals.terminal,
    totals.policy,
    caps.cap,
    used_selectors.selector,
    coalesce((select value from meta where key = 'answer'), 'boxed') as answer,
    totals.problems,
    totals.attempts,
    totals.orders,
    interval_card.accuracy,
    interval_card.accuracy_low,
    interval_card.accuracy_high,
    100 * totals.covered / totals.replays as coverage,
    totals.cost / totals.replays as cost,
    totals.cost_p95,
    totals.cost / totals.replays / totals.budget as cost_ratio,
    totals.launched / totals.replays as launched,
    totals.returned / totals.replays as returned,
    totals.eligible / totals.replays as eligible,
    100 * totals.abstained / totals.replays as abstention,
from totals
inner join interval_card
    on totals.archive = interval_card.archive
    and totals.budget = interval_card.budget
    and totals.rule = interval_card.rule
    and totals.terminal is not distinct from interval_card.terminal
    and totals.policy = interval_card.policy
inner join caps on caps.is_primary
inner join used_selectors on used_selectors.is_primary
cross join unit
left join used_terminals on totals.terminal = used_terminals.terminal
order by totals.archive, totals.budget, totals.rule, used_terminals.terminal_id, totals.policy
