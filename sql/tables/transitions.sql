-- transitions: how the advisory answer differs from the strict one on the same replay: gains, losses, and what repair changes.
-- grain: archive, budget, selector
select
    archives.archive,
    paired_picks.budget,
    selectors.selector,
    count(*) as replays,
    100 * count(*) filter (strict_slot is null and is_advisory_correct) / count(*) as abstain_to_correct,
    100 * count(*) filter (strict_slot is not null and not is_strict_correct and is_advisory_correct) / count(*)
        as wrong_to_correct,
    100 * count(*) filter (is_strict_correct and not is_advisory_correct) / count(*) as correct_to_wrong,
    count(*) filter (not is_strict_correct and is_advisory_correct) as fixes,
    count(*) filter (is_strict_correct and not is_advisory_correct) as harms,
    count(*) filter (
        is_strict_correct and not is_advisory_correct
        and case
            when selectors.votes_on = 'archive_answer'
            then strict_candidate.archive_answer is distinct from advisory_candidate.archive_answer
            else strict_candidate.answer is distinct from advisory_candidate.answer
        end
    ) as harms_changing_answer,
    count(*) filter (not is_strict_repaired and is_advisory_repaired) as repaired_fixes,
    count(*) filter (is_strict_repaired and not is_advisory_repaired) as repaired_harms,
from paired_picks
inner join selectors on paired_picks.selector_id = selectors.selector_id
inner join banks on paired_picks.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join selector_archives
    on paired_picks.selector_id = selector_archives.selector_id
    and banks.archive_id = selector_archives.archive_id
left join candidates as strict_candidate
    on paired_picks.bank_id = strict_candidate.bank_id
    and paired_picks.strict_slot = strict_candidate.slot
left join candidates as advisory_candidate
    on paired_picks.bank_id = advisory_candidate.bank_id
    and paired_picks.advisory_slot = advisory_candidate.slot
group by archives.archive, paired_picks.budget, selectors.selector
order by archives.archive, paired_picks.budget, selectors.selector
