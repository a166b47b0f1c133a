-- paired_costs: the weighted totals of both rules at the same budget, side by side; replicate 0 weighs every problem once.
-- grain: archive_id, budget, replicate
with totals as (
    select
        banks.archive_id,
        replay_scores.budget,
        any_value(replay_scores.replays) as replays,
        {% for name in ('strict', 'advisory') %}
        {% for column, total in (('covered', 'covered'), ('cost', 'completion_cost'), ('prompt', 'prompt_cost')) %}
        list(replay_scores.{{ total }}::double order by banks.problem_id) filter (rules.rule = '{{ name }}')
            as {{ name }}_{{ column }},
        {% endfor %}
        {% endfor %}
    from replay_scores
    inner join banks on replay_scores.bank_id = banks.bank_id
    inner join caps on replay_scores.cap = caps.cap
    inner join rules on replay_scores.rule_id = rules.rule_id
    where caps.is_primary
    group by banks.archive_id, replay_scores.budget
)
select
    totals.archive_id,
    totals.budget,
    archive_weights.replicate,
    archive_weights.draws * totals.replays as replays,
    {% for column in ('strict_covered', 'advisory_covered', 'strict_cost', 'advisory_cost', 'strict_prompt', 'advisory_prompt') %}
    list_dot_product(archive_weights.counts, totals.{{ column }}) as {{ column }},
    {% endfor %}
from totals
inner join archive_weights on totals.archive_id = archive_weights.archive_id
