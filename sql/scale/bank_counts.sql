-- bank_counts: a file's share of a bank: its attempts, how many seeds they have, how many of them
--     have a label or may be picked, and how they ended.
-- grain: file, archive, competition, question_id
select
    file,
    archive,
    competition,
    question_id,
    count(*) as attempts,
    count(distinct seed) as seeds,
    count(correct) as labels,
    count(*) filter (eligible) as eligible,
    count(archive_answer) filter (finish_reason = 'stop') as archive_answers,
    histogram(finish_reason) as endings,
from incoming
group by file, archive, competition, question_id
