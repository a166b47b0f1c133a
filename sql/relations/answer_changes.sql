-- answer_changes: by how many of a problem's random orders the correct answers and abstentions of a
--     selector change once the budget reaches this one, at the primary cap; a total at a budget is
--     the sum of the changes up to it.
-- grain: archive, competition, question_id, rule, selector, budget
select
    archives.archive,
    problems.competition,
    problems.question_id,
    changed_answers.rule,
    used_selectors.selector,
    changed_answers.budget,
    changed_answers.correct_change,
    changed_answers.abstained_change,
from (
{% include 'evaluation/changed_answers.sql' %}

) as changed_answers
inner join used_selectors on changed_answers.selector_id = used_selectors.selector_id
inner join banks on changed_answers.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
