-- policy_results: what one replay under a policy launched, returned and paid, and the vote and
--     label of the primary selector's choice; an abstention has no vote.
-- grain: rule, policy_id, walk_id, budget
select
    policy_rule_stops.rule,
    policy_rule_stops.policy_id,
    policy_rule_stops.walk_id,
    coverage.bank_id,
    coverage.repeat,
    policy_rule_stops.budget,
    policy_rule_stops.launched,
    policy_rule_stops.cost,
    coalesce(policy_rule_stops.returned = policy_rule_stops.stop_position, false) as is_stopped_by_policy,
    case when used_selectors.votes_on = 'archive_answer' then chosen.archive_answer_id else chosen.answer_id end as vote,
    case when coverage.is_graded then coalesce(candidate_grades.is_correct, false) end as is_correct,
from policy_rule_stops
inner join coverage on policy_rule_stops.walk_id = coverage.walk_id
inner join prefix_selections on policy_rule_stops.returned_prefix_id = prefix_selections.prefix_id
inner join used_selectors on prefix_selections.selector_id = used_selectors.selector_id
left join walked_attempts as chosen on prefix_selections.selected_prefix_id = chosen.prefix_id
left join candidate_grades
    on chosen.bank_id = candidate_grades.bank_id
    and chosen.slot = candidate_grades.slot
where used_selectors.is_primary
