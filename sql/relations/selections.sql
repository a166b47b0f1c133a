-- selections: the answer a selector returns from a replay, and its labels; an abstention has no
--     seed and is incorrect, labels are null where an archive has none.
-- grain: archive, competition, question_id, repeat, cap, budget, rule, selector
select
    archives.archive,
    problems.competition,
    problems.question_id,
    replay_selections.repeat,
    replay_selections.cap,
    replay_selections.budget,
    replay_selections.rule,
    used_selectors.selector,
    replay_selections.candidate_id is null as abstained,
    candidates.seed,
    case when used_selectors.votes_on = 'archive_answer' then candidates.archive_answer else candidates.answer end as answer,
    replay_selections.is_correct as correct,
    replay_selections.is_repaired_correct as repaired_correct,
from (
{% include 'evaluation/replay_selections.sql' %}

) as replay_selections
inner join used_selectors on replay_selections.selector_id = used_selectors.selector_id
inner join banks on replay_selections.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join candidates on replay_selections.candidate_id = candidates.candidate_id
