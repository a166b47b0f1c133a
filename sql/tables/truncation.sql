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
        walked_attempts.prefix_id,
        count(*) filter (candidates.finish_reason = 'length') over prefix as limited,
    from walked_attempts
    inner join (select distinct bank_id from candidates where finish_reason = 'length') as cut
        on walked_attempts.bank_id = cut.bank_id
    left join candidates
        on walked_attempts.bank_id = candidates.bank_id
        and walked_attempts.slot = candidates.slot
    window prefix as (partition by walked_attempts.walk_id order by walked_attempts.position)
),
launches as (
    select
        walked_attempts.prefix_id,
        walked_attempts.cumulative_cost,
        coalesce(limited.limited, 0) as limited,
        banks.archive_id,
        coverage.is_graded,
    from walked_attempts
    inner join coverage on walked_attempts.walk_id = coverage.walk_id
    inner join banks on coverage.bank_id = banks.bank_id
    left join limited on walked_attempts.prefix_id = limited.prefix_id
    where coverage.repeat > 0
),
replayed as (
    select
        launches.archive_id,
        stops.budget,
        stops.rule,
        stops.launched,
        stops.returned,
        launches.cumulative_cost,
        launches.limited,
        case when launches.is_graded then stops.returned_prefix_id in (select prefix_id from correct_prefixes) end as is_correct,
    from primary_stops as stops
    inner join launches on stops.launched_prefix_id = launches.prefix_id
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
