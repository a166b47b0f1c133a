-- Which answers were given at one problem, with how many votes, and how are they labelled?
-- $archive =
-- $competition =
-- $question_id =
-- An empty parameter means the first there is.
with chosen as (
    select
        archive,
        competition,
        question_id,
    from attempts
    where
        ($archive = '' or archive = $archive)
        and ($competition = '' or competition = $competition)
        and question_id = coalesce(nullif($question_id, '')::bigint, question_id)
    order by archive, competition, question_id
    limit 1
)

select
    attempts.archive,
    attempts.competition,
    attempts.question_id,
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
group by attempts.archive, attempts.competition, attempts.question_id, attempts.answer
order by votes desc, attempts desc, attempts.answer nulls last
