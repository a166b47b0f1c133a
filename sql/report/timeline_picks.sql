-- timeline_picks: what the primary selector picks from the first attempts of one order, and whether
--     it is correct; a position without a pick abstains.
-- grain: position
select
    walked.position,
    candidates.seed,
    case when used_selectors.votes_on = 'archive_answer' then candidates.archive_answer else candidates.answer end as answer,
    candidate_grades.is_correct as correct,
from walked
inner join walks on walked.walk_id = walks.walk_id
inner join banks on walked.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
inner join used_selectors on used_selectors.is_primary
inner join primary_picks as picks
    on walked.walk_id = picks.walk_id
    and walked.position >= picks.from_position
    and walked.position < picks.until_position
inner join candidates on picks.candidate_id = candidates.candidate_id
left join candidate_grades on picks.candidate_id = candidate_grades.candidate_id
where
    archives.archive = $archive
    and problems.competition = $competition
    and problems.question_id = $question_id
    and walks.repeat = $repeat
    and walked.position <= $cap
order by walked.position
