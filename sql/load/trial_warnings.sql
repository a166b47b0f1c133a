-- trial_warnings: a check that fails, and one of costs and answers that warns, which says that another
--     option is needed; `advice` is what a load would print.
-- grain: check
select
    "check",
    sum(count)::bigint as count,
    sum(total)::bigint as total,
    bool_or(severity = 'fail') as is_failed,
    any_value(advice) as advice,
from ({% include "tables/data_quality.sql" %})
where
    severity = 'fail'
    or (
        severity <> 'ok'
        and "check" in ('reasoning_not_counted', 'texts_longer_than_costs', 'costs_at_a_limit', 'answers_missed')
    )
group by "check"
order by "check"
