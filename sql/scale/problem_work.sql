-- problem_work: the work of a problem in all archives: attempts to read, and rows to hold at a
--     time, which are the prefixes of its walks or their stops, whichever are more; a problem that
--     is not replayed has none.
-- grain: competition, question_id
with looked_up as (
    select (select count(*) from budgets) * (select count(*) from used_rules) as stops
),

held as (
    select
        problems.competition,
        problems.question_id,
        sum(
            (select count(*) from repeats)
            * greatest(1 + least(banks.bank_size, (select max(cap) from caps)), (select stops from looked_up))
        )::bigint as rows_held,
    from banks
    inner join problems on banks.problem_id = problems.problem_id
    group by problems.competition, problems.question_id
)
select
    attempts.competition,
    attempts.question_id,
    count(*) as attempts,
    coalesce(any_value(held.rows_held), 0) as rows_held,
from attempts
left join held
    on attempts.competition = held.competition
    and attempts.question_id = held.question_id
group by attempts.competition, attempts.question_id
order by attempts.competition, attempts.question_id
