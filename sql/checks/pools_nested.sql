-- pools_nested: the advisory pool is the strict pool or one attempt more, and so is its eligible part
-- grain: one row
select
    count(*) as looked_at,
    count(*) filter (
        advisory.returned - strict.returned not between 0 and 1
        or advisory.eligible - strict.eligible not between 0 and 1
    ) as violations,
from replays as strict
inner join replays as advisory
    on strict.archive = advisory.archive
    and strict.competition = advisory.competition
    and strict.question_id = advisory.question_id
    and strict.repeat = advisory.repeat
    and strict.cap = advisory.cap
    and strict.budget = advisory.budget
where strict.rule = 'strict' and advisory.rule = 'advisory'
