-- terminal_cost: a terminal against the advisory rule for the same money: at the strict budget of
--     matched_cost, which no terminal but forced_after changes.
-- grain: archive, terminal, advisory_budget
select
    archive,
    terminal,
    advisory_budget,
    advisory_cost / replays as advisory_cost,
    budget,
    cost / replays as cost,
    100 * correct / replays as accuracy,
    100 * advisory_correct / replays as advisory_accuracy,
    advisory_delta,
    advisory_delta_low,
    advisory_delta_high,
from interval_terminal_cost
inner join used_terminals using (terminal)
order by archive, terminal_id, advisory_budget
