-- at_k: what k attempts reach: pass@k, pass^k and the primary selector's accuracy after k of them,
--     what they cost, and what twice as many would add to that accuracy.
-- grain: archive, k
select
    archive,
    k,
    pass_at_k,
    pass_at_k_low,
    pass_at_k_high,
    pass_hat_k,
    pass_hat_k_low,
    pass_hat_k_high,
    majority_at_k,
    majority_at_k_low,
    majority_at_k_high,
    cost / draws as cost,
    gain,
    gain_low,
    gain_high,
from interval_at_k
order by archive, k
