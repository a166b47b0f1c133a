-- Where does cutting the last attempt off leave no answer to choose from?
with paired as (
    select
        archive,
        competition,
        question_id,
        repeat,
        budget,
        max(eligible) filter (rule = 'strict') as strict_eligible,
        max(eligible) filter (rule = 'advisory') as advisory_eligible,
    from replays
    where
        repeat > 0
        and cap = (select value::integer from settings where key = 'primary_cap')
    group by archive, competition, question_id, repeat, budget
)

select
    archive,
    budget,
    competition,
    count(*) as replays,
    count(*) filter (strict_eligible = 0) as empty_under_strict,
    count(*) filter (strict_eligible = 0 and advisory_eligible > 0) as emptied_by_the_cut,
    count(*) filter (advisory_eligible = 0) as empty_anyway,
    count(distinct question_id) filter (strict_eligible = 0 and advisory_eligible > 0)
        as problems_concerned,
    100.0 * count(*) filter (strict_eligible = 0 and advisory_eligible > 0) / count(*) as percent_emptied_by_the_cut,
from paired
group by archive, budget, competition
order by archive, budget, competition
