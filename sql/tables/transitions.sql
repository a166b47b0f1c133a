-- transitions: how the advisory answer differs from the strict one on the same replay: gains,
--     losses, and what repair changes.
-- grain: archive, budget, selector
-- Names are joined last: DuckDB 2.0 fails now and then where they go through joins of what has been grouped.
with replayed as (
    select
        banks.archive_id,
        used_selectors.selector_id,
        budgets.budget,
        count(*) as replays,
    from walks
    inner join banks on walks.bank_id = banks.bank_id
    inner join graded_archives on banks.archive_id = graded_archives.archive_id
    inner join selector_archives on graded_archives.archive = selector_archives.archive
    inner join used_selectors on selector_archives.selector = used_selectors.selector
    cross join budgets
    where walks.repeat > 0 and graded_archives.is_graded
    group by banks.archive_id, used_selectors.selector_id, budgets.budget
),
changes as (
    select
        archive_id,
        selector_id,
        budget,
        count(*) filter (strict_seed is null and is_advisory_correct) as abstain_to_correct,
        count(*) filter (not is_strict_correct and is_advisory_correct) as fixes,
        count(*) filter (is_strict_correct and not is_advisory_correct) as harms,
        count(*) filter (
            is_strict_correct and not is_advisory_correct and (
                strict_answer is distinct from advisory_answer
                -- Without answers the same answer is the same attempt.
                or (strict_answer is null and strict_seed is distinct from advisory_seed)
            )
        ) as harms_changing_answer,
        count(*) filter (not is_strict_repaired and is_advisory_repaired) as repaired_fixes,
        count(*) filter (is_strict_repaired and not is_advisory_repaired) as repaired_harms,
    from changed_selections
    group by archive_id, selector_id, budget
)
select
    archives.archive,
    replayed.budget,
    used_selectors.selector,
    replayed.replays,
    100 * coalesce(changes.abstain_to_correct, 0) / replayed.replays as abstain_to_correct,
    100 * coalesce(changes.fixes - changes.abstain_to_correct, 0) / replayed.replays as wrong_to_correct,
    100 * coalesce(changes.harms, 0) / replayed.replays as correct_to_wrong,
    coalesce(changes.fixes, 0) as fixes,
    coalesce(changes.harms, 0) as harms,
    coalesce(changes.harms_changing_answer, 0) as harms_changing_answer,
    coalesce(changes.repaired_fixes, 0) as repaired_fixes,
    coalesce(changes.repaired_harms, 0) as repaired_harms,
from replayed
left join changes
    on replayed.archive_id = changes.archive_id
    and replayed.selector_id = changes.selector_id
    and replayed.budget = changes.budget
inner join archives on replayed.archive_id = archives.archive_id
inner join used_selectors on replayed.selector_id = used_selectors.selector_id
order by archives.archive, replayed.budget, used_selectors.selector
