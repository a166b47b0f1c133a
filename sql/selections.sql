-- selections: the answer a selector returns from a replay, and its labels; an abstention has no seed and is incorrect.
-- grain: archive, competition, question_id, repeat, cap, budget, rule, selector
select
    archives.archive,
    problems.competition,
    problems.question_id,
    picks.repeat,
    picks.cap,
    picks.budget,
    rules.rule,
    selectors.selector,
    picks.slot is null as abstained,
    candidates.seed,
    case when selectors.votes_on = 'archive_answer' then candidates.archive_answer else candidates.answer end as answer,
    picks.is_correct as correct,
    picks.is_repaired_correct as repaired_correct,
from picks
inner join rules on picks.rule_id = rules.rule_id
inner join selectors on picks.selector_id = selectors.selector_id
inner join banks on picks.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join candidates
    on picks.bank_id = candidates.bank_id
    and picks.slot = candidates.slot
