-- replay_selections: the attempt a selector returns from a replay, and its labels; an abstention
--     has no attempt and is incorrect, and without labels nothing is either.
-- grain: rule, selector_id, walk_id, cap, budget
select
    stops.rule,
    used_selectors.selector_id,
    stops.walk_id,
    stops.bank_id,
    stops.repeat,
    stops.cap,
    stops.budget,
{% if stops is defined %}
    stops.policy_id,
{% endif %}
    picks.candidate_id,
    case when coverage.is_graded then coalesce(candidate_grades.is_correct, false) end as is_correct,
    case when coverage.is_graded then coalesce(candidate_grades.is_repaired_correct, false) end as is_repaired_correct,
from {{ stops | default('stops') }} as stops
inner join coverage on stops.walk_id = coverage.walk_id
cross join used_selectors
left join picks
    on used_selectors.selector_id = picks.selector_id
    and stops.walk_id = picks.walk_id
    and stops.returned >= picks.from_position
    and stops.returned < picks.until_position
left join candidate_grades on picks.candidate_id = candidate_grades.candidate_id
