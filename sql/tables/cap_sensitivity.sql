-- cap_sensitivity: the paired accuracy change at every cap, in the canonical order, and its range over the random orders.
-- grain: archive, budget, cap
with changes as (
    select
        graded_archives.archive,
        replay_selections.budget,
        replay_selections.cap,
        replay_selections.repeat,
        count(*) filter (replay_selections.rule = 'strict') as problems,
        count(*) filter (replay_selections.rule = 'advisory' and replay_selections.is_correct)
            - count(*) filter (replay_selections.rule = 'strict' and replay_selections.is_correct) as gained,
    from replay_selections
    inner join used_selectors on replay_selections.selector_id = used_selectors.selector_id
    inner join banks on replay_selections.bank_id = banks.bank_id
    inner join graded_archives on banks.archive_id = graded_archives.archive_id
    where used_selectors.is_primary and graded_archives.is_graded
    group by graded_archives.archive, replay_selections.budget, replay_selections.cap, replay_selections.repeat
)
select
    archive,
    budget,
    cap,
    100 * sum(gained) filter (repeat > 0) / sum(problems) filter (repeat > 0) as delta,
    100 * sum(gained) filter (repeat = 0) / sum(problems) filter (repeat = 0) as canonical_delta,
    min(100 * gained / problems) filter (repeat > 0) as order_min,
    max(100 * gained / problems) filter (repeat > 0) as order_max,
from changes
group by archive, budget, cap
order by archive, budget, cap
