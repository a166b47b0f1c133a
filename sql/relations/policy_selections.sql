-- policy_selections: the answer a selector returns from a replay under a policy at the primary cap,
--     and its labels; an abstention has no seed and is incorrect, labels are null where an archive
--     has none.
-- grain: archive, competition, question_id, repeat, cap, policy, budget, rule, selector
select
    archives.archive,
    problems.competition,
    problems.question_id,
    coverage.repeat,
    caps.cap,
    used_policies.policy,
    policy_rule_stops.budget,
    policy_rule_stops.rule,
    used_selectors.selector,
    prefix_grades.slot is null as abstained,
    candidates.seed,
    case when used_selectors.votes_on = 'archive_answer' then candidates.archive_answer else candidates.answer end as answer,
    case when coverage.is_graded then coalesce(prefix_grades.is_correct, false) end as correct,
    case when coverage.is_graded then coalesce(prefix_grades.is_repaired_correct, false) end as repaired_correct,
from policy_rule_stops
inner join caps on caps.is_primary
inner join used_policies on policy_rule_stops.policy_id = used_policies.policy_id
inner join coverage on policy_rule_stops.walk_id = coverage.walk_id
inner join prefix_selections on policy_rule_stops.returned_prefix_id = prefix_selections.prefix_id
inner join used_selectors on prefix_selections.selector_id = used_selectors.selector_id
inner join banks on coverage.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join prefix_grades on prefix_selections.selected_prefix_id = prefix_grades.prefix_id
left join candidates
    on prefix_grades.bank_id = candidates.bank_id
    and prefix_grades.slot = candidates.slot
