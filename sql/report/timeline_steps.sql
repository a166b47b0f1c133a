-- timeline_steps: where the steps of a problem's attempts end, counted from each attempt's start in
--     whole numbers of the unit; attempts of one step have no row.
-- grain: seed
select
    candidates.seed,
    list(step_ends.step_end order by step_ends.step_end) as step_ends,
from step_ends
inner join candidates
    on step_ends.bank_id = candidates.bank_id
    and step_ends.slot = candidates.slot
inner join banks on candidates.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
where
    archives.archive = $archive
    and problems.competition = $competition
    and problems.question_id = $question_id
group by candidates.seed
order by candidates.seed
