-- doubtful_banks: a bank that comes from several files or repeats a seed in one; only there can an
--     attempt occur twice.
-- grain: archive, competition, question_id
select
    archive,
    competition,
    question_id,
    sum(attempts) <> sum(seeds) as is_repeated,
from bank_counts
group by archive, competition, question_id
having count(*) > 1 or sum(attempts) <> sum(seeds)
