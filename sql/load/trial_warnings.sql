-- trial_warnings: a check of costs and answers that does not pass, which says that another option
--     is needed.
-- grain: check
select
    "check",
    sum(count)::bigint as count,
    sum(total)::bigint as total,
from ({% include "tables/data_quality.sql" %})
where
    severity <> 'ok'
    and "check" in ('reasoning_not_counted', 'texts_longer_than_costs', 'costs_at_a_limit', 'answers_missed')
group by "check"
order by "check"
