-- banks: all attempts of one archive at one problem, and how many there are; its candidates are
--     numbered from first_candidate on, without a gap.
-- grain: bank_id
-- kept: table
select
    *,
    (sum(bank_size) over (order by bank_id) - bank_size)::integer as first_candidate,
from (
    select
        row_number() over (order by archives.archive_id, problems.problem_id)::integer as bank_id,
        archives.archive_id,
        problems.problem_id,
        count(*)::integer as bank_size,
    from attempts
    inner join replayed_problems using (archive, competition, question_id)
    inner join archives using (archive)
    inner join problems using (competition, question_id)
    group by archives.archive_id, problems.problem_id
)
