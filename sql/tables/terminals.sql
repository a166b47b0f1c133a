-- terminals: what becomes of the attempt that strict cuts: nothing (none), the answer that stands in
--     it (standing), or one that the model is made to give within the budget (forced,
--     forced_if_empty) or after it (forced_after).
-- grain: archive, budget, terminal
with totals as (
    select
        archive,
        budget,
        terminal,
        sum(replays) as replays,
        sum(covered) as covered,
        sum(cost) as cost,
        sum(advisory_cost) as advisory_cost,
        sum(cut) as cut,
        sum(admitted) as admitted,
        sum(changed) as changed,
        sum(undecided) as undecided,
    from terminal_totals
    group by archive, budget, terminal
)
select
    archive,
    budget,
    terminal,
    accuracy,
    accuracy_low,
    accuracy_high,
    delta,
    delta_low,
    delta_high,
    advisory_delta,
    advisory_delta_low,
    advisory_delta_high,
    100 * covered / totals.replays as coverage,
    totals.cost / totals.replays as cost,
    totals.advisory_cost / totals.replays as advisory_cost,
    100 * cut / totals.replays as cut,
    100 * admitted / totals.replays as admitted,
    100 * changed / totals.replays as changed,
    100 * undecided / totals.replays as undecided,
from totals
inner join interval_terminals using (archive, budget, terminal)
inner join used_terminals using (terminal)
order by archive, budget, terminal_id
