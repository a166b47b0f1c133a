-- selection_scores: integer totals of a bank and selector over its random orders.
-- grain: bank_id, cap, budget, rule_id, selector_id
select
    bank_id,
    cap,
    budget,
    rule_id,
    selector_id,
    count(*) as replays,
    count(*) filter (slot is null) as abstained,
    count(*) filter (is_correct) as correct,
    count(*) filter (is_repaired_correct) as repaired_correct,
from picks
where repeat > 0
group by bank_id, cap, budget, rule_id, selector_id
