-- How many attempts go by, at what cost, until the first correct one has finished?
-- Orders are followed up to the largest cap; one without a correct attempt there is not found.
with found as (
    select
        prefixes.archive,
        prefixes.competition,
        prefixes.question_id,
        prefixes.repeat,
        bool_or(grades.correct is not null) as is_labelled,
        min(prefixes.position) filter (attempts.eligible and grades.correct) as position,
        min(prefixes.cumulative_cost) filter (attempts.eligible and grades.correct) as cost,
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
    if(bool_or(is_labelled), count(position), null) as found,
    median(position) as median_attempts,
    median(cost) as median_cost,
    quantile_cont(cost, 0.9) as p90_cost,
    max(cost) as most_cost,
from found
group by archive, competition
order by archive, competition
