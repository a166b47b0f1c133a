-- budgeted_attempts: every walked attempt within a limit, here called its cap, beside every budget;
--     after the last one no attempt is left to launch. Position 0 comes before the first.
-- grain: walk_id, cap, budget, position
select
    walked_attempts.walk_id,
    ends.cap,
    budgets.budget,
    walked_attempts.position,
    walked_attempts.bank_id,
    walked_attempts.slot,
    walked_attempts.cost,
    walked_attempts.cumulative_cost,
    walked_attempts.is_end or walked_attempts.position = ends.cap as is_last,
{% if walks_on %}
from (
    select walk_id, position, bank_id, slot, cost, cumulative_cost, is_end from walked_attempts
    union all
    select walk_id, 0, bank_id, null, 0, 0, false from walked_attempts where position = 1
) as walked_attempts
{% else %}
-- Rules that read last_launched alone ask nothing of position 0.
from walked_attempts
{% endif %}
{% if limits is defined and limits == 'policy_limits' %}
-- Several policies may stop a walk at the same position; the rules look at it once.
inner join (select distinct walk_id, last_position as cap from policy_limits) as ends
    on walked_attempts.walk_id = ends.walk_id
    and walked_attempts.position <= ends.cap
{% else %}
inner join caps as ends on walked_attempts.position <= ends.cap{{ ' and ends.is_primary' if limits is defined }}

{% endif %}
cross join budgets
