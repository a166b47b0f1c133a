-- incoming_checkpoints: a checkpoint that comes in, of a column or a file, with what its attempt
--     cost; null where no such attempt comes in. `problem` is what a file calls the problem: its
--     name, or the number where it has none.
-- grain: file, row, item
select
    checkpoints.*,
    incoming.completion_tokens,
from (
    select
        filed_checkpoints.* replace (coalesce(
            problem_names.question_id,
            try_cast(regexp_extract(filed_checkpoints.question_id, '^\s*([0-9]{1,18})(\.0*)?\s*$', 1) as bigint)
        ) as question_id),
        filed_checkpoints.question_id as problem,
        null as item,
    from filed_checkpoints
    left join problem_names
        on filed_checkpoints.competition = problem_names.competition
        and filed_checkpoints.question_id = problem_names.name
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
