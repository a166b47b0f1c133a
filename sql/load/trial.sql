-- trial: what a load of the files' beginnings holds, for a description: how its first file is read,
--     counts, the first record, ends of texts, how names are split, finish reasons and warnings.
-- grain: one row
select
    (select mapping from sources order by all limit 1) as mapping,
    (select counts from ({% include "load/trial_counts.sql" %}) as counts) as counts,
    (select record from ({% include "load/trial_record.sql" %}) as record) as record,
    (select coalesce(list(text), []) from ({% include "load/trial_texts.sql" %})) as texts,
    (select split from ({% include "load/trial_split.sql" %}) as split) as split,
    (
        select list(finish_reason order by attempts desc, finish_reason)
        from (
            select
                finish_reason,
                count(*) as attempts,
            from attempts
            group by finish_reason
        )
    ) as reasons,
    (
        select coalesce(list(warning order by warning."check"), [])
        from ({% include "load/trial_warnings.sql" %}) as warning
    ) as warned,
