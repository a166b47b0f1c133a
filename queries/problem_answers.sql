-- Which answers were given at one problem, with how many votes, and how are they labelled?
-- $archive =
-- $competition =
-- $question_id =
-- An empty parameter means the first there is; a problem goes by its name or number.
with chosen as (
    select
        archive,
        competition,
        question_id,
    from attempts
    where
        ($archive = '' or archive = $archive)
        and ($competition = '' or competition = $competition)
        and (
            $question_id in ('', question_id::varchar)
            or (competition, question_id) in (select (competition, question_id) from problem_names where name = $question_id)
        )
    order by archive, competition, question_id
    limit 1
)

select
    attempts.archive,
    attempts.competition,
    attempts.question_id,
    coalesce(any_value(problem_names.name), attempts.question_id::varchar) as problem,
    attempts.answer,
    count(*) as attempts,
    case when attempts.answer is not null then count(*) filter (attempts.eligible) end as votes,
    sum(grades.correct::integer)::bigint as labelled_correct,
    sum((not grades.correct)::integer)::bigint as labelled_wrong,
    sum(grades.repaired_correct::integer)::bigint as correct_after_repair,
    avg(attempts.completion_tokens) as mean_tokens,
    min(attempts.seed) as first_seed,
from chosen
inner join attempts using (archive, competition, question_id)
inner join grades using (archive, competition, question_id, seed)
left join problem_names using (competition, question_id)
group by attempts.archive, attempts.competition, attempts.question_id, attempts.answer
order by votes desc, attempts desc, attempts.answer nulls last
