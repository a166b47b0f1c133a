-- transitions: how the advisory answer differs from the strict one on the same replay: gains, losses, and what repair changes.
-- grain: archive, budget, selector
with replayed as (
    select
        banks.archive_id,
        count(*) as replays,
    from bank_orders
    inner join banks on bank_orders.bank_id = banks.bank_id
    where bank_orders.repeat > 0
    group by banks.archive_id
),
changes as (
    select
        archive,
        budget,
        selector,
        count(*) filter (strict_seed is null and is_advisory_correct) as abstain_to_correct,
        count(*) filter (not is_strict_correct and is_advisory_correct) as fixes,
        count(*) filter (is_strict_correct and not is_advisory_correct) as harms,
        count(*) filter (
            is_strict_correct and not is_advisory_correct and strict_answer is distinct from advisory_answer
        ) as harms_changing_answer,
        count(*) filter (not is_strict_repaired and is_advisory_repaired) as repaired_fixes,
        count(*) filter (is_strict_repaired and not is_advisory_repaired) as repaired_harms,
    from changed_selections
    group by archive, budget, selector
)
select
    archive,
    budget,
    selector,
    replayed.replays,
    100 * coalesce(changes.abstain_to_correct, 0) / replayed.replays as abstain_to_correct,
    100 * coalesce(changes.fixes - changes.abstain_to_correct, 0) / replayed.replays as wrong_to_correct,
    100 * coalesce(changes.harms, 0) / replayed.replays as correct_to_wrong,
    coalesce(changes.fixes, 0) as fixes,
    coalesce(changes.harms, 0) as harms,
    coalesce(changes.harms_changing_answer, 0) as harms_changing_answer,
    coalesce(changes.repaired_fixes, 0) as repaired_fixes,
    coalesce(changes.repaired_harms, 0) as repaired_harms,
from selector_archives
inner join graded_archives using (archive)
inner join replayed using (archive_id)
cross join budgets
left join changes using (archive, budget, selector)
where graded_archives.is_graded
order by archive, budget, selector
