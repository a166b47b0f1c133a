-- truncation: how much is cut, by the budget and at the generation limit, and the accuracy when
--     every cut attempt counts as wrong and as correct.
-- grain: archive, budget, rule
-- replays_cut: percent of replays whose last launched attempt runs beyond the budget; strict interrupts it, advisory lets it finish.
-- attempts_cut: percent of all launched attempts that ended at the generation limit (finish_reason 'length').
-- accuracy_cut_wrong: a cut attempt counts as wrong. It gives no answer, so this is the accuracy of the other tables.
-- accuracy_cut_correct: a cut attempt counts as correct and is chosen: a replay is correct when it was, or when an attempt
-- that it launched was cut at the generation limit or interrupted by the budget.
with limited as (
    -- Most banks have no attempt that hit the limit, and nothing to count along their walks.
    select
        walked.walk_id,
        walked.position,
        count(*) filter (candidates.finish_reason = 'length') over walk as limited,
    from walked
    inner join (select distinct bank_id from candidates where finish_reason = 'length') as cut
        on walked.bank_id = cut.bank_id
    inner join candidates on walked.candidate_id = candidates.candidate_id
    window walk as (partition by walked.walk_id order by walked.position)
),
replayed as (
    select
        banks.archive_id,
        stops.budget,
        stops.rule,
        stops.launched,
        stops.returned,
        walked.cumulative_cost,
        coalesce(limited.limited, 0) as limited,
        case when graded_archives.is_graded then correct_picks.walk_id is not null end as is_correct,
    from primary_stops as stops
    inner join banks on stops.bank_id = banks.bank_id
    inner join graded_archives on banks.archive_id = graded_archives.archive_id
    inner join walked
        on stops.walk_id = walked.walk_id
        and stops.launched = walked.position
    left join limited
        on stops.walk_id = limited.walk_id
        and stops.launched = limited.position
    left join correct_picks
        on stops.walk_id = correct_picks.walk_id
        and stops.returned >= correct_picks.from_position
        and stops.returned < correct_picks.until_position
    where stops.repeat > 0
)
select
    any_value(archives.archive) as archive,
    budget,
    rule,
    100 * count(*) filter (cumulative_cost > budget) / count(*) as replays_cut,
    100 * sum(limited) / sum(launched) as attempts_cut,
    100 * sum(is_correct::integer) / count(*) as accuracy_cut_wrong,
    100 * sum((is_correct or limited > 0 or returned < launched)::integer) filter (is_correct is not null) / count(*)
        as accuracy_cut_correct,
from replayed
inner join archives on replayed.archive_id = archives.archive_id
group by replayed.archive_id, budget, rule
order by archive, budget, rule
