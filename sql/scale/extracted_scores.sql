-- extracted_scores: the scores of the extracted attempts, under the names that archives and the
--     numbers that problems have in the whole run; the mean log-probability is the score logprob.
-- grain: file, place, score
with named as (
    select
        extracted.file,
        extracted.place,
        bank_counts.archive,
        bank_counts.competition,
        bank_counts.question_id,
        extracted.mean_logprob,
        extracted.scores,
    from extracted
    inner join bank_counts
        on extracted.file = bank_counts.file
        and extracted.archive = bank_counts.read_archive
        and extracted.competition = bank_counts.competition
        and extracted.question_id = bank_counts.read_id
),

given as (
    select
        file,
        place,
        archive,
        competition,
        question_id,
        unnest(scores) as given,
    from named
)

select
    file,
    place,
    archive,
    competition,
    question_id,
    given.score,
    given.value,
from given
where isfinite(given.value)
union all
select
    file,
    place,
    archive,
    competition,
    question_id,
    'logprob' as score,
    mean_logprob as value,
from named
where isfinite(mean_logprob)
