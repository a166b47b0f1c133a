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
    count(*) filter (attempts.eligible) as votes,
    count(*) filter (grades.correct) as labelled_correct,
    count(*) filter (not grades.correct) as labelled_wrong,
    count(*) filter (grades.repaired_correct) as correct_after_repair,
    round(sum(attempts.completion_tokens) / count(*), 2) as mean_tokens,
    min(attempts.seed) as first_seed,
from chosen
inner join attempts using (archive, competition, question_id)
inner join grades using (archive, competition, question_id, seed)
group by attempts.archive, attempts.competition, attempts.question_id, attempts.answer
order by votes desc, attempts desc, attempts.answer nulls last
