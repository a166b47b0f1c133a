-- banks: all attempts of one archive at one problem, and how many there are.
-- grain: bank_id
select
    row_number() over (order by archives.archive_id, problems.problem_id)::integer as bank_id,
    archives.archive_id,
    problems.problem_id,
    count(*)::integer as bank_size,
from attempts
inner join archives on attempts.archive = archives.archive
inner join problems
    on attempts.competition = problems.competition
    and attempts.question_id = problems.question_id
group by archives.archive_id, problems.problem_id
