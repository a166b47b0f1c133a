-- return_budgets: the smallest budget from which a rule returns the attempt that ends a prefix, in
--     random orders up to the primary cap.
-- grain: prefix_id, rule_id
select
    walked_attempts.prefix_id,
    walked_attempts.walk_id,
    walks.bank_id,
    known_rules.rule_id,
    known_rules.rule,
    case known_rules.returned_when
        when 'finished' then walked_attempts.cumulative_cost
        when 'last_step_begun' then walked_attempts.cumulative_cost - candidates.last_step + 1
        when 'launched' then walked_attempts.cumulative_cost - walked_attempts.cost + 1
    end as budget,
from walked_attempts
inner join walks on walked_attempts.walk_id = walks.walk_id
inner join candidates
    on walked_attempts.bank_id = candidates.bank_id
    and walked_attempts.slot = candidates.slot
cross join known_rules
where walks.repeat > 0 and walked_attempts.position between 1 and (select cap from caps where is_primary)
