-- timeline_picks: what the primary selector picks from the first attempts of one order, and whether
--     it is correct; a position without a pick abstains.
-- grain: position
select
    walked_attempts.position,
    candidates.seed,
    case when used_selectors.votes_on = 'archive_answer' then candidates.archive_answer else candidates.answer end as answer,
    prefix_grades.is_correct as correct,
from walked_attempts
inner join walks on walked_attempts.walk_id = walks.walk_id
inner join banks on walked_attempts.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
inner join prefix_selections on walked_attempts.prefix_id = prefix_selections.prefix_id
inner join used_selectors
    on prefix_selections.selector_id = used_selectors.selector_id
    and used_selectors.is_primary
inner join walked_attempts as picked on prefix_selections.selected_prefix_id = picked.prefix_id
inner join candidates on picked.bank_id = candidates.bank_id and picked.slot = candidates.slot
left join prefix_grades on prefix_selections.selected_prefix_id = prefix_grades.prefix_id
where
    archives.archive = $archive
    and problems.competition = $competition
    and problems.question_id = $question_id
    and walks.repeat = $repeat
    and walked_attempts.position <= $cap
order by walked_attempts.position
