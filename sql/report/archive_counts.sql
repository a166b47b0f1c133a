-- archive_counts: how many problems and attempts of an archive are replayed, and what its banks lack.
-- grain: archive
with bank_sizes as (
    select
        archive,
        competition,
        question_id,
        count(*) as bank_size,
    from attempts
    inner join replayed_problems using (archive, competition, question_id)
    group by all
),
sizes as (
    select
        archive,
        count(*) as problems,
        count(distinct competition) as competitions,
        min(bank_size) as smallest_bank,
        max(bank_size) as largest_bank,
    from bank_sizes
    group by archive
)
select
    attempts.archive,
    any_value(sizes.problems) as problems,
    any_value(sizes.competitions) as competitions,
    any_value(sizes.smallest_bank) as smallest_bank,
    any_value(sizes.largest_bank) as largest_bank,
    count(*) as attempts,
    count(*) filter (attempts.eligible) as eligible,
    count(attempts.mean_logprob) as logprobs,
    count(attempts.archive_answer) as archive_answers,
    sum(attempts.prompt_tokens)::bigint as prompt_tokens,
from attempts
inner join replayed_problems using (archive, competition, question_id)
inner join sizes on attempts.archive = sizes.archive
group by attempts.archive
order by attempts.archive
