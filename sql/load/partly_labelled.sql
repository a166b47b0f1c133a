-- partly_labelled: an archive of which some attempts that come in have a label and others have none: how
--     many have none, and how many of its problems have such an attempt.
-- grain: archive
select
    archive,
    sum(attempts)::bigint as attempts,
    sum(attempts - labels)::bigint as unlabelled,
    count(*) filter (labels < attempts) as incomplete,
    count(*) as problems,
from (
    select
        archive,
        count(*) as attempts,
        count(correct) as labels,
    from incoming
    group by archive, competition, question_id
)
group by archive
having sum(labels) between 1 and sum(attempts) - 1
order by archive
