-- equal_launches: both rules launch the same attempts and pay the same prompts
-- grain: one row
select
    count(*) as looked_at,
    count(*) filter (strict.launched <> advisory.launched or strict.prompt_cost <> advisory.prompt_cost) as violations,
from replays as strict
inner join replays as advisory
    on strict.archive = advisory.archive
    and strict.competition = advisory.competition
    and strict.question_id = advisory.question_id
    and strict.repeat = advisory.repeat
    and strict.cap = advisory.cap
    and strict.budget = advisory.budget
where strict.rule = 'strict' and advisory.rule = 'advisory'
