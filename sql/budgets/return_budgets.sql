-- return_budgets: the smallest budget from which a rule returns an attempt of a walk, in random
--     orders up to the primary cap.
-- grain: walk_id, position, rule_id
select
    whole_attempts.walk_id,
    whole_attempts.position,
    whole_attempts.bank_id,
    known_rules.rule_id,
    known_rules.rule,
    case known_rules.returned_when
        when 'finished' then whole_attempts.cumulative_cost
        when 'last_step_begun' then whole_attempts.cumulative_cost - candidates.last_step + 1
        when 'launched' then whole_attempts.cumulative_cost - whole_attempts.cost + 1
    end as budget,
from whole_attempts
inner join candidates on whole_attempts.candidate_id = candidates.candidate_id
cross join known_rules
where whole_attempts.repeat > 0 and whole_attempts.position <= (select cap from caps where is_primary)
