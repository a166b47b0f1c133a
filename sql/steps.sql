-- steps: the attempts of a walk that a replay can reach, with what selection may know of them; the canonical order is whole.
-- grain: walk_id, position
select
    paths.walk_id,
    paths.bank_id,
    paths.position,
    paths.slot,
    paths.cost,
    paths.cumulative_cost,
    paths.is_end,
    coalesce(candidates.prompt_tokens, 0) as prompt,
    coalesce(candidates.is_eligible, false) as is_eligible,
    candidates.answer_id,
    coalesce(candidates.is_archive_eligible, false) as is_archive_eligible,
    candidates.archive_answer_id,
    candidates.logprob_rank,
from paths
cross join reach
left join candidates
    on paths.bank_id = candidates.bank_id
    and paths.slot = candidates.slot
where
    paths.repeat = 0
    or coalesce(paths.cumulative_cost - paths.cost < reach.largest_budget, true)
    or paths.position <= least(reach.units, (select cap from caps where is_primary))
