-- doubtful_attempts: an extracted attempt of a doubtful bank.
-- grain: file, place
select
    extracted.file,
    extracted.row,
    extracted.place,
    bank_counts.archive,
    extracted.competition,
    bank_counts.question_id,
    extracted.seed,
from extracted
inner join bank_counts
    on extracted.file = bank_counts.file
    and extracted.archive = bank_counts.read_archive
    and extracted.competition = bank_counts.competition
    and extracted.question_id = bank_counts.read_id
inner join doubtful_banks
    on bank_counts.archive = doubtful_banks.archive
    and bank_counts.competition = doubtful_banks.competition
    and bank_counts.question_id = doubtful_banks.question_id
