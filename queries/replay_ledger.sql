-- What does one replay launch, return and pay, attempt by attempt?
-- $archive =
-- $competition =
-- $question_id =
-- $repeat =
-- $budget =
-- An empty parameter means the first there is: the first random order, the smallest budget.
-- A problem goes by its name or number.
-- Every row is launched under both rules; the advisory one pays its whole cost and returns it.
with chosen as (
    select
        archive,
        competition,
        question_id,
        repeat,
        budget,
    from replays
    where
        ($archive = '' or archive = $archive)
        and ($competition = '' or competition = $competition)
        and (
            $question_id in ('', question_id::varchar)
            or (competition, question_id) in (select (competition, question_id) from problem_names where name = $question_id)
        )
        and repeat = coalesce(nullif($repeat, '')::integer, repeat)
        and budget = coalesce(nullif($budget, '')::double, budget)
    order by archive, competition, question_id, repeat = 0, repeat, budget
    limit 1
)

select
    chosen.archive,
    chosen.competition,
    chosen.question_id,
    coalesce(problem_names.name, chosen.question_id::varchar) as problem,
    chosen.repeat,
    chosen.budget,
    prefixes.position,
    prefixes.seed,
    attempts.finish_reason,
    attempts.answer,
    attempts.eligible,
    grades.correct,
    prefixes.cost,
    prefixes.cumulative_cost,
    least(prefixes.cost, chosen.budget - prefixes.cumulative_cost + prefixes.cost) as strict_pays,
    prefixes.cumulative_cost <= chosen.budget as strict_returns,
from chosen
inner join prefixes using (archive, competition, question_id, repeat)
inner join attempts using (archive, competition, question_id, seed)
inner join grades using (archive, competition, question_id, seed)
left join problem_names using (competition, question_id)
where
    prefixes.position <= (select value::integer from settings where key = 'primary_cap')
    and prefixes.cumulative_cost - prefixes.cost < chosen.budget
order by prefixes.position
