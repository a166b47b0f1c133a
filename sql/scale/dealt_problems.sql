-- dealt_problems: a problem and its part: problems are dealt in turn, the largest first; those that
--     are not replayed come last.
-- grain: competition, question_id
select
    attempts.competition,
    attempts.question_id,
    (
        row_number() over (
            order by
                any_value(problems.problem_id) is null,
                count(*) desc,
                attempts.competition,
                attempts.question_id
        ) - 1
    ) % $parts as part,
from attempts
left join problems
    on attempts.competition = problems.competition
    and attempts.question_id = problems.question_id
group by attempts.competition, attempts.question_id
