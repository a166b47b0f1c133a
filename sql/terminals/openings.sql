-- openings: from how many tokens of a cut attempt on a terminal finds another checkpoint of it: a
--     written one where it stands, an asked one where it was asked, or where that is paid for.
-- grain: terminal, candidate_id, opens_at
select
    terminal,
    candidate_id,
    opens_at,
    max(tokens) as tokens,
from (
    select
        'standing' as terminal,
        candidate_id,
        tokens as opens_at,
        tokens,
    from keyed_checkpoints
    where kind = 'written'
    union all
    select
        'forced_after' as terminal,
        candidate_id,
        tokens as opens_at,
        tokens,
    from keyed_checkpoints
    where kind = 'asked'
    union all
    select
        'forced' as terminal,
        candidate_id,
        tokens + cost as opens_at,
        -- One that was asked later may be paid for earlier.
        max(tokens) over (partition by candidate_id order by tokens + cost) as tokens,
    from keyed_checkpoints
    where kind = 'asked'
)
group by terminal, candidate_id, opens_at
