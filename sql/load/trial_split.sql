-- trial_split: what stands between the name and the number of every problem, where the numbers may be
--     those of attempts; and whether names that differ by a number have one prompt, by its tokens.
-- grain: one row
with parts as (
    select
        prompt_tokens,
        unnest(regexp_extract(name, '^(.+)([-_])([0-9]+)$', ['stem', 'mark', 'number'])),
    from ({% include "load/trial_prompts.sql" %})
),
stems as (
    select
        min(mark) as first_mark,
        max(mark) as last_mark,
        list_sort(list(distinct ltrim(number, '0'))) as numbers,
        count(distinct prompt_tokens) as prompts,
    from parts
    group by stem
),
prompts as (
    select count(prompt_tokens) = count(*) and count(distinct prompt_tokens) > 1 as are_known,
    from parts
)
select
    -- Numbers of problems have one name before them; those of attempts are the same after several.
    if(
        min(first_mark) = max(last_mark)
        and count(*) > 1
        and count(distinct numbers) = 1
        and min(len(numbers)) > 1,
        min(first_mark),
        ''
    ) as mark,
    if(any_value(prompts.are_known), max(stems.prompts) = 1, null) as is_of_attempts,
from stems
cross join prompts
