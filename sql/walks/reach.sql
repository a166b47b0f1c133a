-- reach: how many attempts of a bank any order can launch before the largest budget is spent, for
--     the cheapest ones come first; a user's own rule may launch more, up to the largest cap. last_begin is what is paid at most where an attempt begins.
-- grain: bank_id
select
    bank_id,
{% if walks_on %}
    (select max(cap) from caps) as reach,
    9223372036854775807 as last_begin,
from banks
{% else %}
    least(
        count(*) filter (spent - cost < (select max(budget) from budgets)),
        (select max(cap) from caps)
    )::integer as reach,
    (select max(budget) from budgets) as last_begin,
from (
    select
        bank_id,
        cost,
        sum(cost) over (partition by bank_id order by cost rows unbounded preceding) as spent,
    from candidates
)
group by bank_id
{% endif %}
