-- policy_results: what one replay under a policy launched, returned and paid, and the vote and
--     label of the primary selector's choice; an abstention has no vote.
-- grain: rule, policy_id, walk_id, budget
select
    stops.rule,
    stops.policy_id,
    stops.walk_id,
    stops.bank_id,
    stops.repeat,
    stops.budget,
    stops.launched,
    stops.cost,
    coalesce(stops.returned = stops.stop_position, false) as is_stopped_by_policy,
    case when used_selectors.votes_on = 'archive_answer' then candidates.archive_answer_id else candidates.answer_id end as vote,
    case when coverage.is_graded then coalesce(candidate_grades.is_correct, false) end as is_correct,
from policy_rule_stops as stops
inner join used_selectors on used_selectors.is_primary
inner join coverage on stops.walk_id = coverage.walk_id
left join primary_picks as picks
    on stops.walk_id = picks.walk_id
    and stops.returned >= picks.from_position
    and stops.returned < picks.until_position
left join candidates on picks.candidate_id = candidates.candidate_id
left join candidate_grades on picks.candidate_id = candidate_grades.candidate_id
