-- coverage_never_lost: what the strict pool covers the advisory pool covers too
-- grain: one row
select
    count(*) as looked_at,
    count(*) filter (strict.covered and not advisory.covered) as violations,
from replays as strict
inner join replays as advisory
    on strict.archive = advisory.archive
    and strict.competition = advisory.competition
    and strict.question_id = advisory.question_id
    and strict.repeat = advisory.repeat
    and strict.cap = advisory.cap
    and strict.budget = advisory.budget
where strict.rule = 'strict' and advisory.rule = 'advisory'
