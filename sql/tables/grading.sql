-- grading: the paired accuracy change under source labels and under repaired ones.
-- grain: archive, budget
with totals as (
    select
        archives.archive,
        selection_scores.budget,
        sum(selection_scores.replays) filter (rules.rule = 'strict') as replays,
        sum(selection_scores.correct) filter (rules.rule = 'advisory')
            - sum(selection_scores.correct) filter (rules.rule = 'strict') as gained,
        sum(selection_scores.repaired_correct) filter (rules.rule = 'advisory')
            - sum(selection_scores.repaired_correct) filter (rules.rule = 'strict') as repaired_gained,
    from selection_scores
    inner join selectors on selection_scores.selector_id = selectors.selector_id
    inner join rules on selection_scores.rule_id = rules.rule_id
    inner join caps on selection_scores.cap = caps.cap
    inner join banks on selection_scores.bank_id = banks.bank_id
    inner join archives on banks.archive_id = archives.archive_id
    where selectors.is_primary and caps.is_primary
    group by archives.archive, selection_scores.budget
)
select
    archive,
    budget,
    100 * gained / replays as source_delta,
    100 * repaired_gained / replays as repaired_delta,
    100 * (repaired_gained - gained) / replays as change,
from totals
order by archive, budget
