-- policy_stops: the first position after which a policy launches nothing more, for every order and
--     cap; null where it does not stop within the cap.
-- grain: archive, competition, question_id, repeat, cap, policy
select
    archives.archive,
    problems.competition,
    problems.question_id,
    walks.repeat,
    caps.cap,
    used_policies.policy,
    policy_positions.stop_position,
from walks
inner join banks on walks.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
cross join caps
cross join used_policies
left join policy_positions
    on used_policies.policy_id = policy_positions.policy_id
    and walks.walk_id = policy_positions.walk_id
    and caps.cap = policy_positions.cap
