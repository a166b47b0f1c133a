-- bank_counts: a file's share of a bank: its attempts, how many seeds they have, and how many of them have a label.
-- grain: file, archive, competition, question_id
select
    file,
    archive,
    competition,
    question_id,
    count(*) as attempts,
    count(distinct seed) as seeds,
    count(correct) as labels,
from incoming
group by file, archive, competition, question_id
