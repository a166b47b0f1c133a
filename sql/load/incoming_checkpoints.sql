-- incoming_checkpoints: a checkpoint that comes in, of a column or a file, with what its attempt
--     cost; null where no such attempt comes in.
-- grain: file, row, item
select
    checkpoints.*,
    incoming.completion_tokens,
from (
    from filed_checkpoints
    union all by name
    select
        file,
        "row",
        item,
        archive,
        competition,
        question_id,
        seed,
        unnest(checkpoint),
    from (
        select
            file,
            "row",
            archive,
            competition,
            question_id,
            seed,
            generate_subscripts(checkpoints, 1) as item,
            unnest(checkpoints) as checkpoint,
        from incoming
        where len(checkpoints) > 0
    )
) as checkpoints
left join incoming using (archive, competition, question_id, seed)
