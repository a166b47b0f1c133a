-- interval_at_k: the chances that any of k attempts or all of them are correct, and the primary
--     selector's accuracy after k and what twice as many add, with the ends of their intervals.
-- grain: archive, k
-- totals: at_k_totals
-- values: any_passes, all_pass, majority_correct, gained, cost
-- intervals: pass_at_k low high; pass_hat_k low high; majority_at_k low high; gain low high
select
    *,
    100 * any_passes / draws as pass_at_k,
    100 * all_pass / draws as pass_hat_k,
    100 * majority_correct / replays as majority_at_k,
    100 * gained / replays as gain,
from replicate_at_k
