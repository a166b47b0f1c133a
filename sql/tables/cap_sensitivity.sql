-- cap_sensitivity: the paired accuracy change at every cap, in the canonical order, and its range over the random orders.
-- grain: archive, budget, cap
with changes as (
    select
        archives.archive,
        picks.budget,
        picks.cap,
        picks.repeat,
        count(*) filter (rules.rule = 'strict') as problems,
        count(*) filter (rules.rule = 'advisory' and picks.is_correct)
            - count(*) filter (rules.rule = 'strict' and picks.is_correct) as gained,
    from picks
    inner join selectors on picks.selector_id = selectors.selector_id
    inner join rules on picks.rule_id = rules.rule_id
    inner join banks on picks.bank_id = banks.bank_id
    inner join archives on banks.archive_id = archives.archive_id
    where selectors.is_primary
    group by archives.archive, picks.budget, picks.cap, picks.repeat
)
select
    archive,
    budget,
    cap,
    100 * sum(gained) filter (repeat > 0) / sum(problems) filter (repeat > 0) as delta,
    100 * sum(gained) filter (repeat = 0) / sum(problems) filter (repeat = 0) as canonical_delta,
    min(100 * gained / problems) filter (repeat > 0) as order_min,
    max(100 * gained / problems) filter (repeat > 0) as order_max,
from changes
group by archive, budget, cap
order by archive, budget, cap
