-- renumbered_problems: a named problem, loaded or met while files are read, with its number so far
--     and the one that it gets: within a competition the names count from 0 in the order of their
--     code points, but where all that is there goes by whole numbers, those are the numbers.
-- grain: competition, name, old
with named as (
    select
        competition,
        name,
        question_id as old,
        true as is_loaded,
    from ({% include "load/named_problems.sql" %})
    union all
    select distinct
        competition,
        problem as name,
        question_id as old,
        false as is_loaded,
    from incoming
    where problem is not null
),
ranked as (
    select
        competition,
        name,
        old,
        dense_rank() over (partition by competition order by name) - 1 as place,
        bool_and(not is_loaded and regexp_full_match(name, '0|[1-9][0-9]{0,17}')) over (partition by competition) as is_whole,
    from named
)
select
    competition,
    name,
    old,
    if(is_whole, try_cast(name as bigint), place) as new,
    is_whole,
    bool_and(name = new::varchar) over (partition by competition) as is_plain,
from ranked
order by competition, name, old
