-- canonical_attempts: walked_attempts of the canonical orders alone, which go through a bank slot by
--     slot.
-- grain: walk_id, position
{% set walked %}
(
    select
        walks.walk_id,
        walks.bank_id,
        walks.repeat,
        candidates.slot + 1 as position,
        candidates.candidate_id,
        candidates.slot + 1 = walks.bank_size as is_end,
        (sum(candidates.cost) over (partition by walks.walk_id order by candidates.slot))::bigint as cumulative_cost,
    from candidates
    inner join walks on candidates.bank_id = walks.bank_id
    where walks.repeat = 0
){% endset %}
{% include 'walks/known_attempts.jinja' %}
