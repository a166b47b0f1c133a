-- policy_selections: the answer a selector returns from a replay under a policy at the primary cap,
--     and its labels; an abstention has no seed and is incorrect, labels are null where an archive
--     has none.
-- grain: archive, competition, question_id, repeat, cap, policy, budget, rule, selector
select
    archives.archive,
    problems.competition,
    problems.question_id,
    choices.repeat,
    caps.cap,
    used_policies.policy,
    choices.budget,
    choices.rule,
    used_selectors.selector,
    choices.candidate_id is null as abstained,
    candidates.seed,
    case when used_selectors.votes_on = 'archive_answer' then candidates.archive_answer else candidates.answer end as answer,
    choices.is_correct as correct,
    choices.is_repaired_correct as repaired_correct,
from (
{% include 'evaluation/policy_choices.sql' %}

) as choices
inner join caps on caps.is_primary
inner join used_policies on choices.policy_id = used_policies.policy_id
inner join used_selectors on choices.selector_id = used_selectors.selector_id
inner join banks on choices.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join candidates on choices.candidate_id = candidates.candidate_id
