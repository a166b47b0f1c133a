-- prompts_unknown: replayed attempts, counted where an archive has no prompt token at all although
--     the unit or the prices of the replay count them.
-- grain: archive, level
select
    archive,
    null::bigint as level,
    if(
        sum(attempts.prompt_tokens) = 0
            and exists (
                from settings as unit
                inner join settings as prices on unit.key = 'unit' and prices.key = 'prices'
                where unit.value = 'total' or (unit.value = 'money' and prices.value not in ('', '[]'))
            ),
        count(*),
        0
    ) as count,
    count(*) as total,
from attempts
inner join replayed_problems using (archive, competition, question_id)
group by archive
