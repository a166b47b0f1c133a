-- doubtful_attempts: an extracted attempt of a bank that comes from several files or repeats a seed; only there can an attempt occur twice.
-- grain: file, row
with doubtful_banks as (
    select
        archive,
        competition,
        question_id,
    from bank_counts
    group by archive, competition, question_id
    having count(*) > 1 or sum(attempts) <> sum(seeds)
)
select
    extracted.file,
    extracted.row,
    extracted.archive,
    extracted.competition,
    bank_counts.question_id,
    extracted.seed,
from extracted
inner join bank_counts
    on extracted.file = bank_counts.file
    and extracted.archive = bank_counts.archive
    and extracted.competition = bank_counts.competition
    and extracted.question_id = bank_counts.read_id
inner join doubtful_banks
    on bank_counts.archive = doubtful_banks.archive
    and bank_counts.competition = doubtful_banks.competition
    and bank_counts.question_id = doubtful_banks.question_id
