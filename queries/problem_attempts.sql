-- Which attempts were made at one problem, in canonical order, and what did each answer?
-- $archive =
-- $competition =
-- $question_id =
-- An empty parameter means the first there is; votes count the eligible attempts with the answer.
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
    attempts.seed,
    attempts.completion_tokens,
    attempts.finish_reason,
    attempts.answer,
    attempts.eligible,
    grades.correct,
    case
        when attempts.answer is null then null
        when attempts.eligible
        then count(*) filter (attempts.eligible) over (partition by attempts.answer)
        else 0
    end as votes,
from chosen
inner join attempts using (archive, competition, question_id)
inner join grades using (archive, competition, question_id, seed)
order by attempts.seed
