-- trial: what a load of the files' beginnings holds, for a description: how its first file is read,
--     counts, the first record, ends of texts, how names are split, answers that are one
--     number, finish reasons that may mean finished, and warnings.
-- grain: one row
select
    (select mapping from sources where format <> 'checkpoints' order by all limit 1) as mapping,
    (select counts from ({% include "load/trial_counts.sql" %}) as counts) as counts,
    (select record from ({% include "load/trial_record.sql" %}) as record) as record,
    (select coalesce(list(text), []) from ({% include "load/trial_texts.sql" %})) as texts,
    (select split from ({% include "load/trial_split.sql" %}) as split) as split,
    (select alike from ({% include "load/trial_decimals.sql" %}) as alike) as alike,
    (
        select
            coalesce(
                list({'reason': finish_reason, 'attempts': attempts} order by attempts desc, finish_reason)
                filter (not is_unfinished),
                []
            )
        from ({% include "load/archive_finish_reasons.sql" %})
    ) as reasons,
    (
        select coalesce(list(warning order by warning."check"), [])
        from ({% include "load/trial_warnings.sql" %}) as warning
    ) as warned,
