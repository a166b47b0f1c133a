-- uncounted: attempts with a text whose tokens have not been counted in the current encoding.
-- grain: archive, competition, question_id, seed
select
    attempts.archive,
    attempts.competition,
    attempts.question_id,
    attempts.seed,
    attempts.completion_tokens as recorded,
from attempts
inner join texts
    on attempts.archive = texts.archive
    and attempts.competition = texts.competition
    and attempts.question_id = texts.question_id
    and attempts.seed = texts.seed
left join token_counts
    on attempts.archive = token_counts.archive
    and attempts.competition = token_counts.competition
    and attempts.question_id = token_counts.question_id
    and attempts.seed = token_counts.seed
    and token_counts.encoding = (select value from meta where key = 'encoding')
where texts.text is not null and token_counts.seed is null
