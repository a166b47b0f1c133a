-- left_counts: an archive that was derived from another: its attempts, how many leave early, how many
--     were never asked, and what an attempt costs in the mean before and after.
-- grain: archive
select
    left_attempts.derived as archive,
    left_attempts.archive as derived_from,
    count(*) as attempts,
    count(*) filter (leaves) as left_early,
    count(*) filter (not is_asked) as never_asked,
    avg(attempts.completion_tokens) as tokens_before,
    avg(left_attempts.completion_tokens) as tokens,
from left_attempts
inner join attempts using (archive, competition, question_id, seed)
group by left_attempts.derived, left_attempts.archive
order by archive
