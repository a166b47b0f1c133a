-- card_replays: what one replay in a random order at the primary cap launched, returned, paid and
--     answered, under every rule, under strict with every terminal, and under every policy.
-- grain: walk_id, budget, rule, terminal, policy
with replayed as (
    select
        choices.walk_id,
        choices.bank_id,
        choices.budget,
        'strict' as rule,
        choices.terminal,
        'none' as policy,
        choices.launched,
        choices.returned,
        choices.cost,
        choices.picked_id,
        choices.is_admitted,
        case when choices.picked_id < 0 then grades.is_correct else picked.is_correct end as is_correct,
        choices.is_admitted and coalesce(grades.is_correct, false) as is_covering,
    from primary_choices as choices
    left join candidate_grades as picked on choices.picked_id = picked.candidate_id
    left join admitted_grades as grades
        on choices.candidate_id = grades.candidate_id
        and choices.admitted_at = grades.tokens
        and choices.kind = grades.kind
    where choices.repeat > 0
{% for stops in (['primary_stops', 'policy_rule_stops'] if policies else ['primary_stops']) %}
    union all
    select
        stops.walk_id,
        stops.bank_id,
        stops.budget,
        stops.rule,
        case when stops.rule = 'strict' then 'none' end as terminal,
        {{ "'none'" if loop.first else 'used_policies.policy' }} as policy,
        stops.launched,
        stops.returned,
        stops.cost,
        picks.candidate_id as picked_id,
        false as is_admitted,
        picked.is_correct,
        false as is_covering,
    from {{ stops }} as stops
    left join primary_picks as picks
        on stops.walk_id = picks.walk_id
        and stops.returned >= picks.from_position
        and stops.returned < picks.until_position
    left join candidate_grades as picked on picks.candidate_id = picked.candidate_id
{% if loop.first %}
    where stops.repeat > 0 and stops.rule <> 'strict'
{% else %}
    inner join used_policies on stops.policy_id = used_policies.policy_id
    where stops.repeat > 0 and used_policies.policy <> 'none'
{% endif %}
{% endfor %}
)
select
    replayed.walk_id,
    replayed.bank_id,
    replayed.budget,
    replayed.rule,
    replayed.terminal,
    replayed.policy,
    replayed.launched,
    replayed.returned,
    replayed.cost,
    coalesce(eligible_counts.eligible_count, 0) + replayed.is_admitted::integer as eligible,
    replayed.picked_id is null as is_abstained,
    case when coverage.is_graded then coalesce(replayed.is_correct, false) end as is_correct,
    case when coverage.is_graded then coalesce(coverage.covered_from <= replayed.returned, false) or replayed.is_covering end as is_covered,
from replayed
inner join coverage on replayed.walk_id = coverage.walk_id
left join eligible_counts
    on replayed.walk_id = eligible_counts.walk_id
    and replayed.returned = eligible_counts.position
where
    replayed.walk_id between coalesce(getvariable('first_walk'), 0)
    and coalesce(getvariable('last_walk'), 9223372036854775807)
