-- admitted_pools: what a selector sees where a checkpoint with an answer joins the attempts before a cut one:
--     a walk of its own; its walk_id leaves room for the answers of the bank and one more.
-- grain: pool_id
-- kept: on demand by walks
select
    (
        (walk_id * (select 3 * count(*) from budgets) + row_number() over (partition by walk_id order by position, answer_id, archive_answer_id))
        * (select max(bank_size) + 3 from banks)
    )::bigint as pool_id,
    walk_id,
    position,
    answer_id,
    archive_answer_id,
from (
    select distinct
        walk_id,
        position,
        answer_id,
        archive_answer_id,
    from admissions
    where
        answer_id is not null
        and walk_id between coalesce(getvariable('first_walk'), 0)
        and coalesce(getvariable('last_walk'), 9223372036854775807)
)
