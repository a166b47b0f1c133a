-- admissions: the checkpoint that a terminal finds in the attempt that strict cuts, whether it has
--     an answer or not; no row where there is none.
-- grain: walk_id, budget, terminal
-- kept: on demand by walks
with opened as (
    select
        case terminal when 'standing' then 1 when 'forced' then 2 else 3 end::tinyint as finds,
        candidate_id,
        opens_at,
        tokens,
    from openings
),
-- Two terminals find the same checkpoint, which is looked for once; a small number is joined faster than a name.
used as (
    select
        terminal,
        case terminal when 'standing' then 1 when 'forced_after' then 3 else 2 end::tinyint as finds,
    from used_terminals
    where terminal <> 'none'
),
asked as (
    select
        cut_replays.*,
        kinds.finds,
    from (
{% include 'terminals/cut_replays.sql' %}

    ) as cut_replays
    cross join (select distinct finds from used) as kinds
)
select
    found.walk_id,
    found.budget,
    used.terminal,
    found.position,
    found.candidate_id,
    keyed_checkpoints.tokens,
    keyed_checkpoints.kind,
    keyed_checkpoints.cost,
    keyed_checkpoints.answer,
    keyed_checkpoints.answer_id,
    keyed_checkpoints.archive_answer_id,
from (
    select
        asked.*,
        opened.tokens,
    from asked
    asof inner join opened
        on asked.finds = opened.finds
        and asked.candidate_id = opened.candidate_id
        and asked.remaining >= opened.opens_at
) as found
inner join keyed_checkpoints
    on found.candidate_id = keyed_checkpoints.candidate_id
    and found.tokens = keyed_checkpoints.tokens
    and case when found.finds = 1 then 'written' else 'asked' end = keyed_checkpoints.kind
inner join used on found.finds = used.finds
where used.terminal <> 'forced_if_empty' or found.is_empty
