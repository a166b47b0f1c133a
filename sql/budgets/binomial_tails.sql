-- binomial_tails: the probability of at most so many heads (successes) in so many flips (trials)
--     of a fair coin; trials go up to the most votes of a prefix, plus one.
-- grain: trials, successes
select
    trials,
    successes,
    -- Terms are added from the smallest up; all of them are positive, so rounding stays below 1e-12.
    least(sum(term) over (partition by trials order by successes), 1) as probability,
from (
    select
        trials,
        successes,
        exp(lgamma(trials + 1) - lgamma(successes + 1) - lgamma(trials - successes + 1) - trials * ln(2)) as term,
    from (select unnest(range(1, most + 2))::integer as trials from (select least(max(cap), (select max(bank_size) from banks)) as most from caps))
    cross join lateral (select unnest(range(0, trials + 1))::integer as successes)
)
