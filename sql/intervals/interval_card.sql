-- interval_card: accuracy, with the ends of its interval, for every row of a budget card.
-- grain: archive, budget, rule, terminal, policy
-- totals: card_totals
-- values: correct
-- intervals: accuracy low high
select
    *,
    100 * correct / replays as accuracy,
from replicate_card
