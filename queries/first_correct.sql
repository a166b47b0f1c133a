-- How many attempts and tokens go by until the first correct one has finished?
-- Orders are followed up to the largest cap; one without a correct attempt there is not found.
with found as (
    select
        prefixes.archive,
        prefixes.competition,
        prefixes.question_id,
        prefixes.repeat,
        min(prefixes.position) filter (attempts.eligible and grades.correct) as position,
        min(prefixes.cumulative_cost) filter (attempts.eligible and grades.correct) as tokens,
    from prefixes
    inner join attempts using (archive, competition, question_id, seed)
    inner join grades using (archive, competition, question_id, seed)
    where prefixes.repeat > 0
    group by prefixes.archive, prefixes.competition, prefixes.question_id, prefixes.repeat
)

select
    archive,
    competition,
    count(*) as orders,
    count(position) as found,
    median(position) as median_attempts,
    median(tokens) as median_tokens,
    round(quantile_cont(tokens, 0.9), 2) as p90_tokens,
    max(tokens) as most_tokens,
from found
group by archive, competition
order by archive, competition
