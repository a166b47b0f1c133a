-- recording_facts: what of the attempts is not simply as their logs have it: in what way, and in which
--     archives where it is not all of them; and what was made of missing labels.
-- grain: fact
with told as (
    select
        archive,
        origin,
        case
            when name in ('failed', 'finished') then name
            when name = 'completion_tokens' and starts_with(origin, 'counted with ') then 'tokens'
            when name = 'correct' and starts_with(origin, 'references') then 'grade'
        end as fact,
    from ({% include "load/origins.sql" %})
),
ways as (
    select
        fact,
        origin,
        string_agg(archive, ', ' order by archive) as archives,
        count(*) = (select count(distinct archive) from sources) as is_everywhere,
    from told
    where fact is not null
    group by fact, origin
),
gaps as (
    select
        worded.place,
        worded.words,
        if(gap = 'unlabelled', archive, format('{} {:,} of {:,}', archive, count, total)) as gap,
    from ({% include "load/label_gaps.sql" %}) as label_gaps
    inner join (
        values
            ('unlabelled', 1, 'no labels, so nothing that needs them: '),
            ('wrong', 2, 'missing labels counted as incorrect: '),
            ('dropped', 3, 'problems with a missing label left out: ')
    ) as worded (gap, place, words) using (gap)
),
sentences as (
    select
        place,
        words || string_agg(gap, ', ' order by gap) as sentence,
    from gaps
    group by place, words
)
select
    fact,
    if(
        count(*) = 1 and bool_and(is_everywhere),
        nullif(any_value(origin), ''),
        string_agg(format('{} ({})', origin, archives), '; ' order by origin)
    ) as value,
from ways
group by fact
union all
select
    'unlabelled' as fact,
    string_agg(sentence, '; ' order by place) as value,
from sentences
order by fact
