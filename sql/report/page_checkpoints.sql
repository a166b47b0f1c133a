-- page_checkpoints: the checkpoints of one kind of every attempt by their tokens: how many there are, how far
--     each is from the one before, what asking cost, the answers, and labels, of which a missing one is 2.
-- grain: bank_id, slot
select
    candidates.bank_id,
    candidates.slot,
    count(found.tokens) as checkpoint_count,
    coalesce(list(found.gap order by found.tokens) filter (found.tokens is not null), []) as checkpoint_gap,
    coalesce(list(found.cost order by found.tokens) filter (found.tokens is not null), []) as checkpoint_cost,
    coalesce(list(found.answer order by found.tokens) filter (found.tokens is not null), []) as checkpoint_answer,
    coalesce(list(found.label order by found.tokens) filter (found.tokens is not null), []) as checkpoint_label,
from candidates
left join (
    select
        keyed_checkpoints.candidate_id,
        keyed_checkpoints.tokens,
        keyed_checkpoints.tokens
        - coalesce(lag(keyed_checkpoints.tokens) over (partition by keyed_checkpoints.candidate_id order by keyed_checkpoints.tokens), 0) as gap,
        keyed_checkpoints.cost,
        keyed_checkpoints.answer,
        coalesce(grades.is_correct::utinyint, 2) as label,
    from keyed_checkpoints
    left join admitted_grades as grades using (candidate_id, tokens, kind)
    where keyed_checkpoints.kind = $kind
) as found using (candidate_id)
where candidates.bank_id in (select unnest($banks::bigint[]))
group by candidates.bank_id, candidates.slot
order by candidates.bank_id, candidates.slot
