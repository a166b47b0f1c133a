-- transitions: how the advisory answer differs from the strict one on the same replay: gains, losses, and what repair changes.
-- grain: archive, budget, selector
select
    archive,
    budget,
    selector,
    count(*) as replays,
    100 * count(*) filter (strict_seed is null and is_advisory_correct) / count(*) as abstain_to_correct,
    100 * count(*) filter (strict_seed is not null and not is_strict_correct and is_advisory_correct) / count(*)
        as wrong_to_correct,
    100 * count(*) filter (is_strict_correct and not is_advisory_correct) / count(*) as correct_to_wrong,
    count(*) filter (not is_strict_correct and is_advisory_correct) as fixes,
    count(*) filter (is_strict_correct and not is_advisory_correct) as harms,
    count(*) filter (
        is_strict_correct and not is_advisory_correct and strict_answer is distinct from advisory_answer
    ) as harms_changing_answer,
    count(*) filter (not is_strict_repaired and is_advisory_repaired) as repaired_fixes,
    count(*) filter (is_strict_repaired and not is_advisory_repaired) as repaired_harms,
from paired_selections
inner join selector_archives using (archive, selector)
inner join graded_archives using (archive)
where is_graded
group by archive, budget, selector
order by archive, budget, selector
