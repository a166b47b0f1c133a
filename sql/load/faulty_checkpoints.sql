-- faulty_checkpoints: a checkpoint that breaks a rule, where it stands, and what is wrong with it.
-- grain: file, row, item
with repeated as (
    select
        archive,
        competition,
        question_id,
        seed,
        tokens,
        kind,
        min((file, "row", coalesce(item, 0))) as first_place,
    from incoming_checkpoints
    group by archive, competition, question_id, seed, tokens, kind
    having count(*) > 1
)
select
    file,
    "row",
    item,
    case
        when completion_tokens is null then 'seed'
        when kind = 'written' and cost > 0 then 'cost'
        else 'tokens'
    end as "column",
    case
        when completion_tokens is null
            then format(
                'no attempt of this load has archive {}, competition {}, question_id {}, seed {}; load the checkpoints together with their attempts',
                archive, competition, problem, seed
            )
        when kind = 'written' and cost > 0 then format('must be 0 where kind is written, found {}', cost)
        when tokens > completion_tokens
            then format('must be at most the attempt''s completion_tokens ({}), found {}', completion_tokens, tokens)
        else format('must differ between the {} checkpoints of an attempt, found {} twice', kind, tokens)
    end as problem,
from incoming_checkpoints
left join repeated using (archive, competition, question_id, seed, tokens, kind)
where
    completion_tokens is null
    or tokens > completion_tokens
    or (kind = 'written' and cost > 0)
    or (file, "row", coalesce(item, 0)) > first_place
order by file, "row", item
