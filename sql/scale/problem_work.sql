-- problem_work: what a problem costs in all archives: attempts to read, and prefixes to walk in all orders; one that is not replayed has none.
-- grain: competition, question_id
with walked as (
    select
        problems.competition,
        problems.question_id,
        sum((select count(*) from repeats) * (1 + least(banks.bank_size, (select max(cap) from caps))))::bigint as prefixes,
    from banks
    inner join problems on banks.problem_id = problems.problem_id
    group by problems.competition, problems.question_id
)
select
    bank_counts.competition,
    bank_counts.question_id,
    sum(bank_counts.attempts)::bigint as attempts,
    coalesce(any_value(walked.prefixes), 0) as prefixes,
from bank_counts
left join walked
    on bank_counts.competition = walked.competition
    and bank_counts.question_id = walked.question_id
group by bank_counts.competition, bank_counts.question_id
order by bank_counts.competition, bank_counts.question_id
