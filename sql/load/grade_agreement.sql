-- grade_agreement: labels made by comparison with references beside those that the source recorded.
-- grain: archive
select
    archive,
    count(*) as attempts,
    count(*) filter (correct) as matched,
    count(recorded) as recorded,
    count(*) filter (recorded) as recorded_correct,
    count(*) filter (correct = recorded) as agreed,
from incoming
group by archive
order by archive
