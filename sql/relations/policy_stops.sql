-- policy_stops: the first position after which a policy launches nothing more, for every order and cap; null where it does not stop within the cap.
-- grain: archive, competition, question_id, repeat, cap, policy
select
    archives.archive,
    problems.competition,
    problems.question_id,
    bank_orders.repeat,
    caps.cap,
    used_policies.policy,
    halts.stop_position,
from bank_orders
inner join banks on bank_orders.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
cross join caps
cross join used_policies
left join halts
    on used_policies.policy_id = halts.policy_id
    and bank_orders.walk_id = halts.walk_id
    and caps.cap = halts.cap
