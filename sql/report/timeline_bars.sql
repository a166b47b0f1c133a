-- timeline_bars: the attempts of one order as the lane of each rule shows them, and before those as the bank
--     holds them, rule null: where each ends there, and whether it was returned, cut, lost or not launched.
-- grain: rule, position
with timeline_attempts as (
{% include 'report/timeline_attempts.sql' %}
),
timeline_ledger as (
{% include 'report/timeline_ledger.sql' %}
)
select
    null as rule,
    timeline_attempts.*,
    case
        when start >= $budget then 'not launched'
        when eligible then 'returned, eligible'
        else 'returned, not eligible'
    end as kind,
    null as lost,
    false as selected,
from timeline_attempts
union all by name
select
    timeline_ledger.rule,
    timeline_attempts.* replace (if(position <= returned, stop, timeline_ledger.cost) as stop),
    case
        when position > returned then 'paid, not returned'
        when timeline_attempts.eligible then 'returned, eligible'
        else 'returned, not eligible'
    end as kind,
    case when position > returned then if(timeline_ledger.rule = 'strict', 'cut', 'lost') end as lost,
    not timeline_ledger.abstained and timeline_attempts.seed = timeline_ledger.seed as selected,
from timeline_attempts
inner join timeline_ledger on timeline_attempts.position <= timeline_ledger.launched
order by rule nulls first, position
