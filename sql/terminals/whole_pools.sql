-- whole_pools: admitted_pools at any budget: every answer that a checkpoint before the end of an
--     attempt has, after the attempts before it in a random order.
-- grain: pool_id
-- kept: on demand by walks
select
    (
        (walk_id * (select cap from caps where is_primary) * (select 2 * max(bank_size) + 2 from banks)
            + row_number() over (partition by walk_id order by position, answer_id, archive_answer_id))
        * (select max(bank_size) + 3 from banks)
    )::bigint as pool_id,
    walk_id,
    position,
    answer_id,
    archive_answer_id,
from (
    select distinct
        whole_attempts.walk_id,
        whole_attempts.position,
        opened.answer_id,
        opened.archive_answer_id,
    from whole_attempts
    inner join (
        select distinct
            keyed_checkpoints.candidate_id,
            keyed_checkpoints.answer_id,
            keyed_checkpoints.archive_answer_id,
        from keyed_checkpoints
        inner join candidates on keyed_checkpoints.candidate_id = candidates.candidate_id
        where keyed_checkpoints.answer_id is not null and keyed_checkpoints.tokens < candidates.cost
    ) as opened
        on whole_attempts.candidate_id = opened.candidate_id
    where whole_attempts.repeat > 0 and whole_attempts.position <= (select cap from caps where is_primary)
)
